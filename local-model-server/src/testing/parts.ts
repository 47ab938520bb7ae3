/** The readers and writers of REST bodies, which conformance compares with oracles. */
export { readExamples } from '../rest/examples-json.ts';
export { parseBody, parseBodyWithFloats, parsedFor, signatureNameOf } from '../rest/json-body.ts';
export { type JsonFormat, readInputs } from '../rest/predict-request.ts';
export { predictionsJson } from '../rest/predict-response.ts';
