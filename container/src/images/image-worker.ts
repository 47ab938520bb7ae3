/** What a thread of the image pool runs: pictures in, elements out. */
import type { PixelsInput } from '@sagemaker-tfs/manifest';
import { remembered } from '../memory/remembered.ts';
import { type Answer, answerTasks } from '../threads/answer-tasks.ts';
import { type ImageElements, type ImageTask, runImageTask } from './image-task.ts';

/** Every message brings its own copy of the input; tables are made for one object, so the same one is used again. */
const inputOf = remembered((json): PixelsInput => JSON.parse(json));

answerTasks<ImageTask, ImageElements>(async (task): Promise<Answer<ImageElements>> => {
  const elements = await runImageTask({ ...task, input: inputOf(JSON.stringify(task.input)) });
  if (task.row) return { result: { ...elements, bytes: task.row }, moved: [] };
  // The array buffers of native decoders cannot be moved between threads.
  const bytes = Buffer.isBuffer(elements.bytes) ? new Uint8Array(elements.bytes) : elements.bytes;
  return { result: { ...elements, bytes }, moved: [bytes.buffer as ArrayBuffer] };
});
