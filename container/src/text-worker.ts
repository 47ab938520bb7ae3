/** What a thread runs that reads large text: bodies of requests and answers of the model server, to tensors. */
import type { TensorMap } from '@sagemaker-tfs/tensors';
import { answerReply, type ReplyTask } from './backends/rest/reply-thread.ts';
import { answerBody, type BodyTask } from './codecs/body-thread.ts';
import type { DecodedRequest } from './codecs/codec.ts';
import { answerTasks } from './threads/answer-tasks.ts';

answerTasks<BodyTask | ReplyTask, DecodedRequest | TensorMap>((task) =>
  task.kind === 'reply' ? answerReply(task) : answerBody(task),
);
