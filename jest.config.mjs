/** One run for unit tests beside their source and for the end-to-end tests in test/. */
export default {
  testMatch: ['**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/', '/dist/', '/dist-packages/', '/cdk.out/', '/.cache/'],
  modulePathIgnorePatterns: ['/cdk.out/', '/dist-packages/', '/.cache/', '/demo-out/'],
  transform: {
    '^.+\\.(m?[jt]s)$': [
      '@swc/jest',
      { jsc: { target: 'es2023', parser: { syntax: 'typescript' } }, module: { type: 'commonjs' } },
    ],
  },
  // These packages ship ES modules only, which jest cannot require as they are.
  transformIgnorePatterns: [
    '/node_modules/(?!(p-limit|yocto-queue|execa|p-retry|is-network-error|hyparquet|hyparquet-compressors|hyparquet-writer|fzstd|hysnappy|jose|magicast|@seriousme)/)',
  ],
  setupFiles: ['./test/setup/own-variables.ts'],
  globalSetup: './test/setup/library.ts',
  globalTeardown: './test/setup/temporary.ts',
  reporters: ['default', './test/setup/summary-reporter.mjs'],
  testTimeout: 120_000,
  // More than the processors of CI: suites wait for the programs that they start.
  maxWorkers: 3,
};
