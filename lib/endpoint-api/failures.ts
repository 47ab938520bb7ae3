/** What callers get when SageMaker refuses a request, as Velocity templates of API Gateway. */

/** A failure: the statuses of SageMaker that it stands for, and what becomes of it. */
export interface Failure {
  /** A regular expression over the status. No two match the same. */
  readonly pattern: string;
  /** Status that callers get, if the template sets no other. */
  readonly status: string;
  readonly template: string;
}

/**
 * Reads SageMaker's answer into `$failure`. Because all media types are binary ones, the body arrives in Base64; text is
 * taken too.
 * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-payload-encodings-workflow.html
 */
const READ = [
  '#set($text = $input.body)',
  '#if(!$text.startsWith("{"))#set($text = $util.base64Decode($text))#end',
  '#if($text.startsWith("{"))#set($failure = $util.parseJson($text))#end',
].join('\n');

/** An error in the form that the container's own errors have. */
const error = (message: string, code: string) => JSON.stringify({ error: message, code });

/** The container's own status and body; a body that is no JSON becomes the message of an error. */
const FROM_CONTAINER = [
  READ,
  '#set($message = "$!failure.OriginalMessage")',
  '#if($failure.OriginalStatusCode)#set($context.responseOverride.status = $failure.OriginalStatusCode)#end',
  '#if($message.startsWith("{"))',
  '$message',
  '#else',
  // escapeJavaScript also escapes single quotes, which JSON does not allow.
  `{"error":"$util.escapeJavaScript($message).replaceAll("\\\\'","'")","code":"MODEL_ERROR"}`,
  '#end',
].join('\n');

const BUSY = error('The endpoint takes no more requests now. Try again later.', 'OVERLOADED');
const FAILED = error('SageMaker could not answer. Try again later.', 'SERVICE_FAILED');
const NOT_ALLOWED = error(
  'The API may not call the endpoint. Tell its owner: the request is not the cause.',
  'API_NOT_ALLOWED',
);

/**
 * A request that SageMaker did not take. Its own message names the account, so callers get another. A throttle has the
 * status 400 too, and no message, or "Rate exceeded": the name of the error is only in a header, which templates cannot
 * read.
 * @see https://docs.aws.amazon.com/sagemaker/latest/APIReference/CommonErrors.html (ThrottlingException)
 * @see https://github.com/opensearch-project/ml-commons/issues/2429
 */
const REFUSED = [
  READ,
  '#set($message = "$!failure.message$!failure.Message")',
  '#if($text.startsWith("{") && ($message == "" || $message == "null" || $message.contains("ate exceeded") || $message.contains("hrottl") || $message.contains("oo many requests")))',
  '#set($context.responseOverride.status = 429)',
  BUSY,
  '#elseif($message.contains("not found"))',
  '#set($context.responseOverride.status = 503)',
  error('The endpoint is switched off, or not deployed yet. Try again later.', 'ENDPOINT_OFF'),
  '#elseif($message.contains("not authorized"))',
  '#set($context.responseOverride.status = 500)',
  NOT_ALLOWED,
  '#else',
  error('SageMaker refused the request. Check its size and its headers.', 'REQUEST_REFUSED'),
  '#end',
].join('\n');

/**
 * All 401 and 403 are about the API's own role: the callers have been let in before.
 * @see https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_runtime_InvokeEndpoint.html (Errors)
 */
export const FAILURES: readonly Failure[] = [
  { pattern: '424', status: '424', template: FROM_CONTAINER },
  { pattern: '429', status: '429', template: BUSY },
  { pattern: '40[13]', status: '500', template: NOT_ALLOWED },
  { pattern: '4(?!24|29|01|03)\\d\\d', status: '400', template: REFUSED },
  { pattern: '5\\d\\d', status: '502', template: FAILED },
];
