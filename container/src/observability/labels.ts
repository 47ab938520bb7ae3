/** Values of labels. Each new one is a series that is kept for ever, so a client must not be able to make them. */

/** What stands for all values beyond the bound. */
const OTHER = 'other';
/** A multi-model endpoint may see thousands of models in its life; a collector takes some hundred series. */
const MAX_VALUES = 100;

const MEDIA_TYPES = new Set([
  'application/json',
  'application/jsonlines',
  'application/jsons',
  'application/octet-stream',
  'application/vnd.apache.parquet',
  'application/x-image',
  'application/x-npy',
  'application/x-npz',
  'application/x-parquet',
  'application/x-recordio',
  'application/x-recordio-protobuf',
  'application/x-tfrecord',
  'image/gif',
  'image/jpeg',
  'image/png',
  'image/tiff',
  'image/webp',
  'text/csv',
]);

/** The media type without parameters; `other` for any that the codecs do not know, empty if there is none. */
export function mediaTypeLabel(contentType: string | undefined): string {
  if (contentType === undefined) return '';
  const end = contentType.indexOf(';');
  const type = (end < 0 ? contentType : contentType.slice(0, end)).trim().toLowerCase();
  return MEDIA_TYPES.has(type) ? type : OTHER;
}

/** Lets the first hundred different values through; each later one is `other`. */
export function boundedLabel(): (value: string) => string {
  const seen = new Set<string>();
  return (value) => {
    if (seen.has(value)) return value;
    if (seen.size >= MAX_VALUES) return OTHER;
    seen.add(value);
    return value;
  };
}
