"use strict";
// The part of the settings that the server understands: the rest is about how it is started.

const OF_THE_EXTENSION = new Set(["path", "interpreter", "args", "trace"]);

/** Settings as the server takes them. What the user did not set is left to configuration files. */
function forServer(settings) {
  if (settings === null || typeof settings !== "object") {
    return settings;
  }
  return Object.fromEntries(
    Object.entries(settings).filter(([name, value]) => value !== null && !OF_THE_EXTENSION.has(name)),
  );
}

module.exports = { forServer };
