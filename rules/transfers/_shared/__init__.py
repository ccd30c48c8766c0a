"""What several rules of this family share."""
