/** A verification as text for people. */
import type { RequestVerification, SignatureVerification, VerifyReport } from '../verify/report.ts';
import { visibleIn, visibleLines } from '../visible.ts';
import { formatBytes, formatMs } from './format.ts';
import { textTable } from './text-table.ts';

/** The report as tables and notes. Control characters in names and answers are shown as JSON escapes them. */
export function renderVerify(report: VerifyReport): string {
  const { versions, requests } = visibleIn(report, visibleLines);
  const sections = versions.map(({ model, version, loadMs, signatures }) => {
    const title = `${model} version ${version} loaded in ${formatMs(loadMs)}`;
    const notes = signatures.filter(({ note }) => note !== '');
    return [
      title,
      textTable(
        ['signature', 'sample', 'first', 'median', 'outputs'],
        signatures.map(signatureRow),
      ),
      ...notes.map(({ signature, note }) => `${signature}: ${note}`),
    ].join('\n');
  });
  if (requests.length > 0) sections.push(renderRequests(requests));
  sections.push(renderSummary(versions, requests));
  return sections.join('\n\n');
}

function signatureRow(row: SignatureVerification): string[] {
  const { signature, sample, firstMs, medianMs, outputs } = row;
  const shapes = Object.entries(outputs).map(
    ([name, { dtype, shape }]) => `${name} ${dtype} [${shape.join(', ')}]`,
  );
  const times = [firstMs, medianMs].map((ms) => (ms === undefined ? '-' : formatMs(ms)));
  return [signature, sample, ...times, shapes.join('\n') || '-'];
}

function renderRequests(requests: readonly RequestVerification[]): string {
  const rows = requests.map((request) => [
    request.sample,
    request.contentType,
    String(request.status),
    formatMs(request.latencyMs),
    `${formatBytes(request.responseBytes)} ${request.responseType}`,
  ]);
  const notes = requests.filter(({ note }) => note !== '').map(({ note }) => note);
  return [
    'Through the runtime',
    textTable(['sample', 'content type', 'status', 'latency', 'answer'], rows),
    ...requests
      .filter(({ status, preview }) => status < 400 && preview !== '')
      .map(({ sample, preview }) => `answer to ${sample}: ${preview.trimEnd()}`),
    ...notes,
  ].join('\n');
}

/** What was tried, and what was not. */
function renderSummary(
  versions: VerifyReport['versions'],
  requests: readonly RequestVerification[],
): string {
  const signatures = versions.flatMap((version) => version.signatures);
  const ran = signatures.filter(({ firstMs }) => firstMs !== undefined);
  const answered = requests.filter(({ status }) => status < 400);
  return [
    `Tried: ${ran.length} of ${signatures.length} signatures ran, ${answered.length} of ${requests.length} requests were answered.`,
    ...untried({ versions, requests }),
  ].join('\n');
}

/** What was not tried or was refused, and the flag that helps; empty if all was tried. */
export function untried({
  versions,
  requests,
}: Pick<VerifyReport, 'versions' | 'requests'>): string[] {
  const left = versions.flatMap(({ model, version, signatures }) =>
    signatures
      .filter(({ firstMs }) => firstMs === undefined)
      .map(({ signature }) => `${signature} of ${model} version ${version}`),
  );
  const answered = requests.some(({ status }) => status < 400);
  const refused = requests.some(({ status }) => status >= 400);
  return [
    ...(left.length > 0 ? [`Not run: ${left.join(', ')}.`] : []),
    ...(refused ? ['Refused: every request through the runtime.'] : []),
    ...(requests.length === 0 ? ['Not tried: the runtime, as no request could be made up.'] : []),
    ...(left.length > 0 || !answered ? ['Give what clients send with --sample FILE.'] : []),
  ];
}
