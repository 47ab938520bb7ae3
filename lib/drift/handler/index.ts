/** The function of a drift monitor: reads the captures of the last hours, compares them with the baseline, and reports. */
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { forcePathStyle, httpStatusOf, listDated, readText } from '@sagemaker-tfs/batch/s3';
import {
  type CaptureFile,
  type Coverage,
  type Drift,
  driftOf,
  gatherer,
  parseBaseline,
  parseCapture,
  sampleOf,
} from '@sagemaker-tfs/container/captures';
import { ConstructError } from '../../errors.ts';

/** Larger files are counted and passed over: the function's memory holds one at a time. */
const MAX_BYTES = 64 * 1024 ** 2;

/** Milliseconds after which it compares what it has read: bodies that take long are the callers'. Its function has 15 minutes. */
const MAX_READING = 12 * 60_000;

/**
 * Features that the log names; the report has all. CloudWatch makes no metrics of a line of more than 1 MB.
 * @see https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
 */
const MAX_LOGGED = 100;

/** S3's answers for a key that the function may not use, and a file that is gone. */
const UNREADABLE = [403, 404];

/** What was looked at. */
interface Look {
  readonly drift: Drift;
  readonly coverage: Coverage;
  /** Lines that are no captures, and files that are too large or cannot be read. */
  readonly skipped: number;
}

/** Environment variables, which the construct sets. */
const NAMES = [
  ...(['BASELINE_BUCKET', 'BASELINE_KEY', 'CAPTURES_BUCKET', 'CAPTURES_PREFIX'] as const),
  ...([
    'ENDPOINT_NAME',
    'HOURS',
    'MAX_CAPTURES',
    'NAMESPACE',
    'REPORT_PREFIX',
    'THRESHOLD',
    // Separated by commas; empty for all.
    'VARIANTS',
  ] as const),
] as const;
type Settings = Readonly<Record<(typeof NAMES)[number], string>>;

/** Looks once. @returns the report, which also goes to S3 and, as metrics, to the log */
export async function handler(): Promise<Drift> {
  const settings = settingsOf(process.env);
  const s3 = new S3Client({ forcePathStyle: forcePathStyle() });
  try {
    const now = Date.now();
    const { drift, coverage, skipped } = await look(s3, settings, now);
    const Key = `${settings.REPORT_PREFIX}${new Date(now).toISOString()}.json`;
    const Body = JSON.stringify({ ...drift, coverage, skipped }, null, 1);
    const put = { Bucket: settings.CAPTURES_BUCKET, Key, Body, ContentType: 'application/json' };
    await s3.send(new PutObjectCommand(put));
    process.stdout.write(`${metricsLine(settings, drift, coverage, now)}\n`);
    return drift;
  } finally {
    s3.destroy();
  }
}

function settingsOf(environment: NodeJS.ProcessEnv): Settings {
  const entries = NAMES.map((name) => {
    const value = environment[name];
    if (value !== undefined) return [name, value];
    throw new ConstructError(
      'FUNCTION_NOT_CONFIGURED',
      `${name} is not set. Deploy the stack again.`,
    );
  });
  return Object.fromEntries(entries) as Settings;
}

async function look(s3: S3Client, settings: Settings, now: number): Promise<Look> {
  const { BASELINE_BUCKET, BASELINE_KEY, CAPTURES_BUCKET: bucket, CAPTURES_PREFIX } = settings;
  const baseline = parseBaseline(
    await readText(s3, { bucket: BASELINE_BUCKET, key: BASELINE_KEY }),
  );
  const files: CaptureFile[] = [];
  let skipped = 0;
  let refused: unknown;
  const since = now - Number(settings.HOURS) * 3_600_000;
  for await (const { key, size } of listDated(s3, { bucket, key: CAPTURES_PREFIX }, since)) {
    if (!key.endsWith('.jsonl') || !isOf(settings, key)) continue;
    const read = () =>
      readText(s3, { bucket, key }).catch((error: unknown) => {
        // One of a former key, or gone since: the others tell enough.
        if (!UNREADABLE.includes(httpStatusOf(error) ?? 0)) throw error;
        refused = error;
        skipped++;
        return '';
      });
    if (size > MAX_BYTES) skipped++;
    else files.push({ name: key, size, read });
  }
  const sample = sampleOf(files, { max: Number(settings.MAX_CAPTURES) });
  const all = gatherer(baseline);
  for await (const { text } of sample.lines()) {
    const capture = captureOf(text);
    if (capture) all.add(capture);
    else skipped++;
    if (Date.now() - now > MAX_READING) break;
  }
  if (refused !== undefined && sample.coverage().captures === 0) throw refused;
  const drift = driftOf(baseline, all.gathered(), Number(settings.THRESHOLD));
  return { drift, coverage: sample.coverage(), skipped };
}

/** Whether a file is of a variant that is looked at. */
function isOf({ VARIANTS, CAPTURES_PREFIX }: Settings, key: string): boolean {
  const [variant = ''] = key.slice(CAPTURES_PREFIX.length).split('/');
  return VARIANTS === '' || VARIANTS.split(',').includes(variant);
}

function captureOf(line: string) {
  try {
    return parseCapture(line);
  } catch {
    return undefined;
  }
}

/** One log line from which CloudWatch makes metrics by endpoint. */
function metricsLine(settings: Settings, drift: Drift, coverage: Coverage, now: number): string {
  const largest = drift.features[0]?.index;
  const metrics = {
    // Of no captures nothing is known; an alarm of its own tells of that.
    ...(drift.records > 0 && { DriftedFeatures: drift.drifted }),
    Captures: drift.records,
    ...(largest !== undefined && { LargestStabilityIndex: largest }),
  };
  return JSON.stringify({
    _aws: {
      Timestamp: now,
      CloudWatchMetrics: [
        {
          Namespace: settings.NAMESPACE,
          Dimensions: [['EndpointName']],
          Metrics: Object.keys(metrics).map((Name) => ({ Name })),
        },
      ],
    },
    EndpointName: settings.ENDPOINT_NAME,
    ...metrics,
    coverage,
    drifted: drift.features
      .flatMap((one) => (one.drifted ? [one.feature] : []))
      .slice(0, MAX_LOGGED),
    gone: drift.gone.slice(0, MAX_LOGGED),
  });
}
