"""What the program does with a single read: each module recognises one purpose."""
