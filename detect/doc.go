/*
Package detect contains the detectors, one file each. A detector reads the state that a run keeps and reports whether its
rule holds at the latest event. It has settings and no state, so a value is safe for concurrent use. Package profile
combines detectors, and package policy turns their findings into warnings and decisions.

The command "unloop explain" prints the sections below, one for each rule: what fires it, why it matters, what to try.

# repeated_tool_call

One tool was called at least 3 times within the last 8 tool calls.

Why: the agent keeps reaching for one tool; if that is a loop, every further call costs money and changes nothing.

Try: check the condition that ends the loop, or give the agent a limit of steps.

A call counts when it starts. There is one warning for each tool. The profile looplens has this rule. It shows only that a
tool is busy, so it also fires for an agent that reads many files.

# repeated_tool_call_similar_input

At least 3 calls of a tool, the latest included, have an input with a similarity of at least 85 % to the latest input.

Why: asking nearly the same question again tends to give nearly the same answer.

Try: vary the input in a way that matters, or stop and report what is missing.

The similarity of two inputs is 2·LCS(a, b) / (len a + len b) over the characters of their canonical JSON. The latest input
is compared with the last 128 distinct inputs of the tool, each counted as often as it occurred. Lengths and letters decide
most comparisons, and at most 16 of the others are made in full. Of an input over 4 KiB, the first and last 2 KiB are compared.

# repeated_tool_call_exact_input

One tool was called at least 3 times with the same input.

Why: the same call gives the same result, unless something else changed in between.

Try: keep the result of the first call, change the arguments, or leave the loop.

Inputs are the same if they are the same JSON value. The order of keys and white space do not matter. There is one warning
for each tool, for its most frequent input.

# no_progress

A tool was called at least 3 times, without a state_updated or memory_write event between its first call and its last.

Why: the agent works, but nothing it keeps has changed, so the next round starts where the last one did.

Try: record what each attempt gave, or hand over to a person after a few attempts.

# empty_result_loop

A tool returned nothing at least 3 times.

Why: the agent looks for something where it is not.

Try: widen or change the query, look elsewhere, or stop after a few empty results.

Empty outputs are null, "", [] and {}, an object with one of these in a member such as results, data or items, and a text with
a phrase such as "no results" or "not found". A call whose output was not captured does not count.

# retry_storm

At least 3 retries were triggered in the run.

Why: trying again without a change rarely helps, and each attempt is paid for.

Try: change the strategy, wait longer between attempts, or limit them.

# long_running_step

A step took over 30 seconds.

Why: a slow step holds up everything behind it.

Try: look at what the step waits for; give it a time limit.

# cost_spike

One event cost more than half of what the run has cost so far, once that is over $0.05.

Why: a single call dominates the bill.

Try: check the model and the size of the context at that call.

# cost_budget_exceeded

The run has cost more than its budget. The rule needs a budget in US dollars: --set cost_budget=0.50.

Why: a loop may be burning money.

Try: look for repeated model calls before this point, or raise the budget if the work is worth it.

# handoff_bounce

The last handoffs, 3 to 6 of them, alternate between the same two agents.

Why: neither agent can finish the task, so each gives it back to the other.

Try: say which agent owns the task, pass on more of what is known, or limit handoffs.

# same_call_same_result

The same call returned the same result again: three times close together, or more often with other calls in between. A call
that fails must fail four times.

Why: nothing the agent did in between changed the answer, so another attempt will not change it either.

Try: use the answer that is already there, or do something that can change it.

Two calls are the same if they have the same target: optional arguments, the order of keys and the command that reads a file do not matter.
Two results are the same if they differ only in volatile parts such as timestamps, durations and ids.

The weight of an occurrence halves every 24 steps. A step that changed something counts as 24 steps, or as 12 if the call fails, because
running the tests again after an edit is no repetition. Progress counts as 24 steps, too: a number in the answers to a call that moved one
way twice, or a call that failed and then succeeds. If something was changed in between, it must be the only number that moved.

The rule does not fire if a call that was made before has returned something new since the latest equal result, because that shows a new
state. One line in words that the run has not seen is something new, such as the title of the next page. Mostly new text counts since the
last but one of the equal results, too, such as a number that moves one way: after two chunks of work, the rest is counted once. The finding is advisory if another
question that was asked before has a new answer since the last but one of the equal results, such as a number of rows that are left.

A call also fails if it returns an output that reports a failure, such as an exit status, an error or a traceback. A shell command whose
results differ in numbers without a trend needs one and a half times the weight, because measurements are repeated, and a call whose results
are bare numbers four times the weight. If the results of any tool differ in such numbers, the finding is advisory.

For polling tools, and for a call that is made again directly after a tool that only waits, such as sleep, there is stuck_polling instead.
The profile default has this rule.

# cycle

The latest steps repeat a pattern of 2 to 8 calls with their results, without novelty: 3 rounds, or 4 repeated steps of a longer
pattern.

Why: each round ends where it began, so another round brings nothing new.

Try: leave the pattern: read the first error again, or take a step that is not part of it.

Until the third round begins, the finding is advisory, because an agent that lost its context reads its files again. If a step
of the pattern failed, three whole rounds are needed, because one repetition after a failure is a retry.

# same_result

A tool that only reads returned the same result to changing inputs several times in a row: 4 times if the inputs ask one question
in different words, 6 times if nothing was found, 24 times otherwise.

Why: the part of the input that changes does not affect the result.

Try: question the assumption that all attempts share, or use another source.

Two inputs ask one question if they differ only in options such as a timeout, or share two words and half of all words. They are
about two items if they differ in one position only, or in words with digits. Different items may well have the same answer, so
the finding is advisory unless the inputs ask one question and something was found. The rule does not fire if another tool changed
something new after each of the results, because then the results were the reasons for the changes.

Nothing found for one item after another counts like any other result: each call names something new in the same place, as for a
search in one folder after another. Variants of one name, such as `order` and `orders`, are one item.

# same_error

A tool failed at least 4 times in a row with the same kind of error, although its input changed.

Why: the changed inputs do not remove the cause of the error.

Try: read the first error once more, and fix its cause before trying again.

The kind of an error is the line that describes it, with paths, numbers and quoted parts masked. If the user refuses a call with words of
their own, these words are the error, without the fixed sentence before them.

A call also fails if it returns an output that reports a failure, such as an exit status, an error or a traceback. A shell command that
fails without a word such as error, failed or not found gives an answer, for example of a comparison or of a search. It does not count.

The finding is advisory in four cases, because the calls may make progress. Other calls changed something in between, so the calls may be
attempts at a fix. There are fewer than twice the number of failures, so the calls may rule out one cause after another. Each of the latest
three outcomes reports work on an item that no earlier call named, such as a crash with a smaller input. Or each of them names another item
of the call, such as the host that refuses.

Up to twice the number, a failure with a line in new words is no repetition, such as the next task of a procedure. A call that waits before
it tries again may fail twice as often. If a number in the errors falls twice, the count begins again, because errors that get fewer or
smaller are progress. It also begins again if the place of the error, such as a line, moves further twice.

A failure is another one if a change in between removed what the failure before named, such as a unit that is not visible or the number of
a row: it no longer has that word or number, and names a new one. The same holds if a line shows what the change introduced, such as a
value that it prints.

The rule also fires, always advisory, when the same kind of error recurs with other steps in between and its occurrences weigh at least
4.3. One occurrence weighs 1 when it happens and half as much every 24 steps later. Tests may fail longer. An error with fewer words
than the one before, or with nothing but an exit status, does not count. The rule does not fire if at least half of the latest eight failures
of the tool were other ones, such as one counterexample after another.

# stuck_polling

A polling tool returned the same result to the same input at least 8 times in a row.

Why: what is waited for may never come.

Try: wait longer between polls, look at the job itself, or give up after a time.

Up to 15 times, the finding is advisory, because a job may take long. A shell command that contains a pause may return the same result
one and a half times as often. A tool that reads is a polling tool for the call that follows a wait: a tool named wait, sleep or pause, or the
sleep of a shell. A call is a poll, too, if an equal call came before and its answer says that something is still in progress: pending, queued,
creating or running. Then the exit status of a shell's command is no failure. A call is no poll if its answer also reports a failure or a
state of rest, such as ImagePullBackOff, FAILED or 403.

# repeated_message

An agent sent nearly the same message at least 3 times within its last 7, without novelty in between.

Why: the agent repeats its words and does not act.

Try: take the next concrete action, or say what is missing and stop.

Messages are nearly the same if they share 80 % of their word trigrams, without case, numbers and punctuation. If more than
eight trigrams differ, the finding is advisory, because a long text may be sent again with corrections. It is advisory, too, if the result
of the latest call reports work on an item that no earlier call named, because a message may report the state of each item.
The rule ignores messages before a handoff to an agent that is new to the run, as long as that agent has control. It also ignores messages
before the latest one that reports progress: see restated_messages.

# restated_messages

The messages since the last novel step repeat earlier ones: together, the content of at least 1.2 messages.

Why: an agent that repeats its messages seldom takes a new action.

Try: state what is new since the last attempt. If nothing is new, make a new plan, or stop and report what is missing.

A message counts by its overlap with the most similar of the last six messages of its agent: the share of equal word bigrams, in the whole
message or in its first twelve words.

Only messages since the latest new result are compared, because the rounds of a procedure are announced in the same words. A change in new
words is a new result. A message with an id that no earlier message has, or with such a number of the latest result, restates nothing. While
an agent that is new to the run has control, only messages since the handoff to it are compared, because it has not received the earlier
ones.

A message that reports progress is a new result. There are three kinds. It counts on by one towards the same total ("page 4 of 38") and has
a word that no earlier message with a place or a total had. It reports a failure in a later line than the message before of its agent, and
has such a word or number. Or it is that earlier message with up to four lines more, of which one is new and comes late.

A message's weight halves every three messages. Messages of fewer than eight words do not count, nor does a standing phrase of at most 40
words, which is all that an agent sends between new messages of other agents. A novel step, a user message and a new plan reset the sum. A
new plan is a message over six times as long as the earlier messages of its agent. The finding is always advisory, because people who work
together restate things, too.

# stalled_steps

The latest steps made no progress. Each step is compared with everything that the run has seen, and measured by 46 quantities. From these,
and from their moving averages, boosted decision trees rate how likely it is that the agent is stuck. The estimate is a moving average of
the ratings, which keeps a quarter from step to step, because honest work has single steps that look stalled. The rule fires at an estimate
of 0.9, from the third step on. The most important quantity is the number of wasted steps.

A step is wasted if its call resembles one of the last twelve calls and its outcome contains no new sequence of four words. A step that
failed, was refused or was a no-op weighs 1. The same call with the same result weighs 0.68. Known content weighs 0.5 to 0.6. A search that
found nothing weighs 0.35. The first two steps after a change or a user message weigh less, because they have a reason to look again.

A call that may change something is a change if its outcome mentions the first new word of the call, whatever else the outcome shows. For
example, a page lists one more picture.

Polls and transient failures weigh less, too. Novelty lowers the sum in proportion to its amount. A change and a user message also lower it.

At 2 wasted steps the rule also fires without an estimate at a no-op, a poll, a third equal failure, and a change that has the words of an
earlier one in another order. A no-op, or a call that has returned the same result three times, is strong evidence. With fewer than four such
steps the finding is advisory: the agent gets a nudge and is not stopped. It is no longer advisory after 12 wasted steps in a row at which the
sum was at least 2.8 of 3.5 and the estimate at least 0.95. A step that changed something, a novel result and a message of a person
end such a row.

Why: these steps cost time and money and return only known information.

Try: state what is still unknown, and take one step that can answer it. If the same failure continues, find its cause before the
next attempt, or stop and report it.

# stalled_talk

The agent repeats its earlier messages in its answers to a person.

An answer counts by the share of its word pairs that earlier messages of agents contain. The sum decays with each answer and with each step.
A reply of at most three words that asks nothing answers the question before it, so that question does not count. It counts after all if the
agent takes no step and its next message sends the same lines or sentences again.

A message before a call does not count: it announces the call. A message of at least eight words counts at least in proportion to the lines
and sentences that an earlier message had, word for word, unless only one came again beside as many other words.

An answer does not count if it has the first new word of the person's message, and that message is known otherwise: it adds what was missed.
The next item of a numbered list, such as a question of a questionnaire, does not count either. If a person gives one new item after another in
short messages, and a call changes something about each, the sum is 0 after the call.

An answer counts at least half if earlier ones had all of its numbers and ids, as when a declined offer is made again. It counts more if the
person has just given the same numbers again, and it has no new one.

If a person or a harness repeats that an answer failed, the next answer counts, whatever its other words are. If it reports another failure,
the sum falls. The finding is always advisory, because a person may ask the same question again.

Why: the person gets no new information.

Try: use what the person has already said, or look it up with a tool. If it cannot be done, say so and end the conversation.

# repeating_text

A message ends with a passage that repeats at least 5 times, over at least 200 bytes in all.

Why: the model has fallen into a repetition and will go on until it is cut off.

Try: stop the generation, and start again with less context or another temperature.

# idle_handoffs

Two agents handed over to each other at least 4 times in a row, without novelty in between, or 6 times if little is known of what
they did. Or three agents handed over in a ring 6 times in a row, without novelty in between.

Why: neither agent makes progress with the task.

Try: say which agent owns the task and what would count as done.

Little is known if no call ended and the agents sent at most 25 words per handoff. Then the finding is advisory.

# repeat_limit

One call was made more than 3 times with the same arguments, byte by byte.

Why: an agent that does not like a result tends to ask again, word for word, and pays for it each time.

Try: answer the call with a hint instead of running it, or stop the run. Leave out tools that poll: ignore.

The order of keys and white space matter: {"a":1,"b":2} and {"b":2,"a":1} are two calls. The count is for the whole run, and a
new turn does not reset it. The profile agentium has this rule.

# call_cycle

The latest calls repeat a pattern of 1 to 3 calls at least twice in a row.

Why: the agent goes round in a fixed pattern of calls.

Try: read the error messages again, try another strategy, take smaller steps.

Only a repetition of the whole pattern without a gap counts, and not the reuse of a tool. The rule fires when a round is
complete. The profile cycles has this rule, and its policy escalates for each pattern separately.

# doom_loop

At least 3 calls in a row had the same arguments, or 4 the same target.

Why: a call that did not help twice will not help the third time.

Try: try a different approach or tool, say what blocks the progress, or say that the task is done.

The target leaves out optional arguments and the command that reads a file. At most the last 10 calls count. The profile
attocode has this rule.

# test_fix_cycle

At least 3 test runs in a row failed.

Why: the fixes do not touch what is wrong.

Try: read the error messages again, ask whether the approach is right at all, try a different fix.

A test run is a shell call whose command runs tests or whose output is that of a test runner. A test run that passes resets the
count.

# failure_cascade

At least 3 shell calls in a row failed.

Why: the shell is not the way to what the agent wants.

Try: check paths and tools one by one; read, write and edit files with the tools that are made for it.

# summary_loop

At least 2 messages in a row were sent without a tool call.

Why: the agent sums up instead of working.

Try: pick a task and begin with a tool.

# turn_time

The turn has taken longer than 120 seconds.

Why: something in the turn does not come to an end.

Try: end the turn with what there is, or allow more time.

# unchanged_result

A tool returned the same result, byte by byte, at least 4 times in a row, without a call of another tool in between.

Why: the calls change nothing.

Try: do something else before calling it again.

A new turn, a state update, a memory write and an override reset the count. The profile loopguard has this rule.

# idempotent_calls

A tool that only reads was called at least 5 times in the turn.

Why: reading is cheap, but an agent that only reads does not get on.

Try: use what was read.

A list, the annotations of a tool, or a word in its name (read, get, list, search, find, show, view, check) determine whether the
tool only reads. The profile loopguard has this rule.

# mutating_calls

A tool that changes something was called at least 3 times in the turn.

Why: each call may have an effect.

Try: check what the calls before have done.

# generic_repeat

One call was made at least 10 times within the last 30 calls, with the same arguments.

Why: calls in between do not make a repetition useful.

Try: keep the result of the first call.

Polling tools have poll_no_progress instead. The profile loopdetection has this rule.

# poll_no_progress

A polling tool returned the same result to the same call at least 10 times.

Why: what is waited for does not move.

Try: wait longer between polls, or look at why it does not move.

# ping_pong

Two calls have alternated strictly for at least 10 calls.

Why: each call undoes what the other does, or asks what the other has told.

Try: settle on one of the two.

# global_doom_loop

One call was made at least 10 times by at least 2 workers together.

Why: the whole swarm is stuck on one approach.

Try: change the strategy, or question the goal.

A guard with a swarm store has this rule, under every profile. Both numbers are settings of the swarm.
*/
package detect
