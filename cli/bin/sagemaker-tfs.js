#!/usr/bin/env node
// Plain, old syntax and no static import: an older Node must come as far as the message.
var version = process.versions.node.split('.').map(Number);
if (version[0] < 20 || (version[0] === 20 && version[1] < 19)) {
  console.error(
    'sagemaker-tfs needs Node 20.19 or later, this is ' +
      process.versions.node +
      '. Install a newer one from https://nodejs.org.',
  );
  process.exitCode = 1;
} else {
  import('../dist/bin.js');
}
