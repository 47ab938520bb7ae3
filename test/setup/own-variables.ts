/**
 * Loading TensorFlow sets this variable in the process, and the next suites of a worker would start servers with it: their logs
 * would lack what tests wait for.
 */
delete process.env.TF_CPP_MIN_LOG_LEVEL;
