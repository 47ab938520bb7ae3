/** What a thread runs that reads large text: bodies of requests and answers of the model server, to tensors. */
import { answerReply, type ReplyTask } from './backends/rest/reply-thread.ts';
import { answerBody, type BodyTask, type HandedRequest } from './codecs/body-thread.ts';
import { answerTasks } from './threads/answer-tasks.ts';
import type { HandedTensors } from './threads/handed-tensors.ts';

answerTasks<BodyTask | ReplyTask, HandedRequest | HandedTensors>((task) =>
  task.kind === 'reply' ? answerReply(task) : answerBody(task),
);
