import { appendFileSync, mkdirSync } from 'node:fs';
import { dirname, relative } from 'node:path';

/**
 * Closes a run with one plain line that any CI can read. With `FAILED_SUITES`, adds the files that failed to the file
 * of that name, so that a second run does not hide what failed in the first.
 */
export default class SummaryReporter {
  onRunComplete(_contexts, results) {
    const { numPassedTests, numFailedTests, numPendingTests } = results;
    const failed = numFailedTests + results.numRuntimeErrorTestSuites;
    process.stdout.write(
      `Tests: ${numPassedTests} passed, ${failed} failed, ${numPendingTests} skipped\n`,
    );
    const list = process.env.FAILED_SUITES;
    if (list === undefined || failed === 0) return;
    mkdirSync(dirname(list), { recursive: true });
    for (const suite of results.testResults)
      if (suite.numFailingTests > 0 || suite.testExecError !== undefined)
        appendFileSync(list, `${relative(process.cwd(), suite.testFilePath)}\n`);
  }
}
