// Loaded into the built server beside its own code (`node --import`): tells the parent what the process has used. Touches nothing.
process.on("message", (question) => {
  if (question === "collect") globalThis.gc?.();
  const { user, system } = process.cpuUsage();
  process.send?.({ cpuMicros: user + system, rssBytes: process.memoryUsage.rss() });
});
// The channel alone must not keep the server alive.
process.channel?.unref();
