/** What a wheel on PyPI holds, read from its end alone: the files of TensorFlow have hundreds of megabytes. */
import { PassThrough, type Readable } from 'node:stream';
import { type Entry, fromRandomAccessReader, RandomAccessReader, type ZipFile } from 'yauzl';

class RangeReader extends RandomAccessReader {
  readonly url: string;

  constructor(url: string) {
    super();
    this.url = url;
  }

  override _readStreamForRange(start: number, end: number): Readable {
    const stream = new PassThrough();
    fetch(this.url, { headers: { Range: `bytes=${start}-${end - 1}` } })
      .then((response) => {
        if (response.status !== 206)
          throw new Error(`${this.url} answers ${response.status} to a range`);
        return response.arrayBuffer();
      })
      .then((bytes) => stream.end(Buffer.from(bytes)))
      .catch((error: Error) => stream.destroy(error));
    return stream;
  }
}

/** Sizes of the files in a zip, unpacked, by path. */
export function sizesInWheel(url: string, bytes: number): Promise<ReadonlyMap<string, number>> {
  return new Promise((resolve, reject) => {
    const sizes = new Map<string, number>();
    const opened = (error: Error | null, zip?: ZipFile) => {
      if (error || !zip) return reject(error);
      zip.on('entry', (entry: Entry) => {
        sizes.set(entry.fileName, entry.uncompressedSize);
        zip.readEntry();
      });
      zip.on('error', reject);
      zip.on('end', () => resolve(sizes));
      zip.readEntry();
    };
    fromRandomAccessReader(new RangeReader(url), bytes, { lazyEntries: true }, opened);
  });
}
