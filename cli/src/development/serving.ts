/**
 * `sagemaker-tfs/development/serving`: how the command serves models, for this repository's own benchmarks, demo and
 * tests. It is not published.
 */
export { startFront } from '../playground/front.ts';
export { readPage } from '../playground/page.ts';
export { type ServeSession, startSession } from '../playground/serve-session.ts';
export { startPlayground } from '../playground/testing/start-playground.ts';
export { freePort, freePortRange } from '../serving/free-port.ts';
export { prepareModelRoot } from '../serving/model-root.ts';
export { chooseModelServer } from '../serving/model-server.ts';
export { type RunningRuntime, startRuntime } from '../serving/runtime-process.ts';
