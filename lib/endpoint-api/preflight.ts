/** What browsers ask before they call from a page of another origin. */
import { ContentHandling, MockIntegration, type Resource } from 'aws-cdk-lib/aws-apigateway';
import { type Route, requestHeaders } from './integration.ts';

/** Headers that say who calls, for all kinds of `auth`. */
const AUTH_HEADERS = ['Authorization', 'X-Api-Key', 'X-Amz-Date', 'X-Amz-Security-Token'];

/** Adds `OPTIONS`, which needs no key. An hour long browsers need not ask again. */
export function addPreflight(
  resource: Resource,
  route: Pick<Route, 'chooses'>,
  origin: string,
): void {
  const headers = {
    'Access-Control-Allow-Origin': origin,
    'Access-Control-Allow-Methods': 'POST,OPTIONS',
    'Access-Control-Allow-Headers': [...requestHeaders(route), ...AUTH_HEADERS].join(','),
    'Access-Control-Max-Age': '3600',
  };
  const entries = Object.entries(headers);
  resource.addMethod(
    'OPTIONS',
    new MockIntegration({
      // The body of a binary type could not go through the template.
      contentHandling: ContentHandling.CONVERT_TO_TEXT,
      requestTemplates: { 'application/json': '{"statusCode":204}' },
      integrationResponses: [
        {
          statusCode: '204',
          contentHandling: ContentHandling.CONVERT_TO_TEXT,
          responseParameters: Object.fromEntries(
            entries.map(([name, value]) => [`method.response.header.${name}`, `'${value}'`]),
          ),
        },
      ],
    }),
    {
      methodResponses: [
        {
          statusCode: '204',
          responseParameters: Object.fromEntries(
            entries.map(([name]) => [`method.response.header.${name}`, true]),
          ),
        },
      ],
    },
  );
}
