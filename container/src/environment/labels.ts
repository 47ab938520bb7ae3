/** `SAGEMAKER_TFS_VERSION_LABELS`. */
import type { Values } from './values.ts';

const LABEL = /^\s*([^=\s]+)\s*=\s*(\d+)\s*$/;

export function versionLabelsOf(text: string | undefined): Record<string, string> | undefined {
  if (text === undefined) return undefined;
  const pairs = text.split(',').map((pair) => LABEL.exec(pair) ?? []);
  return Object.fromEntries(
    pairs.map(([, label = '', version = '']) => [label, BigInt(version).toString()]),
  );
}

/** What is wrong with the labels. */
export function wrongLabels({ SAGEMAKER_TFS_VERSION_LABELS: text }: Values): string[] {
  if (text === undefined) return [];
  const labels = text.split(',').map((pair) => LABEL.exec(pair)?.[1]);
  if (labels.includes(undefined)) {
    return [
      `SAGEMAKER_TFS_VERSION_LABELS is "${text}": it must be label=version with commas between.`,
    ];
  }
  const twice = labels.find((label, at) => labels.indexOf(label) !== at);
  return twice === undefined
    ? []
    : [
        `SAGEMAKER_TFS_VERSION_LABELS is "${text}", which has the label "${twice}" twice. A label names one version: leave the other out.`,
      ];
}
