/** The rules of all operations and sockets, without what only the documents need. The build evaluates this file. */
import { type OperationName, operations, type SocketName, sockets } from './index.ts';
import { type FullRule, type Operation, ruleOf, type SocketOperation } from './operation.ts';

const rulesOf = <Name extends string>(records: Readonly<Record<Name, Operation | SocketOperation>>) =>
  Object.fromEntries(
    Object.entries<Operation | SocketOperation>(records).map(([name, rule]) => [name, ruleOf(name, rule)] as const),
  ) as Readonly<Record<Name, FullRule>>;

export const rules = rulesOf<OperationName>(operations);
export const socketRules = rulesOf<SocketName>(sockets);

/** What of the rules a page needs: the role that an operation takes, and what tags mean for it. */
export const needs = Object.fromEntries(
  Object.entries(rules).map(([name, { role, scope }]) => [name, { role, scope }]),
) as Readonly<Record<OperationName, Pick<FullRule, 'role' | 'scope'>>>;
