/*
Package detect contains the detectors, one file each. A detector reads the state that a run keeps and reports whether its
rule holds at the latest event. It has settings and no state, so a value is safe for concurrent use. Package profile
combines detectors, and package policy turns their findings into warnings and decisions.

The command "unloop explain" prints the sections below, one for each rule: what fires it, why it matters, what to try.

# repeated_tool_call

The last 8 tool calls hold one tool at least 3 times.

Why: the agent keeps reaching for one tool; if that is a loop, every further call costs money and changes nothing.

Try: check the condition that ends the loop, or give the agent a limit of steps.

A call counts when it starts. There is one warning for each tool. The profile looplens has this rule; it says only that
a tool is busy, so an agent that reads many files trips it too.

# repeated_tool_call_similar_input

At least 3 calls of a tool so far, the latest among them, have an input at least 85 % alike that of the latest.

Why: asking nearly the same question again tends to give nearly the same answer.

Try: vary the input in a way that matters, or stop and report what is missing.

How alike two inputs are is 2·LCS(a, b) / (len a + len b) over the characters of their canonical JSON. The latest input
is compared with the 128 distinct inputs of the tool that came last, each counted as often as it came; in full, where
lengths and letters do not tell, with the 16 latest of them. Of an input over 4 KiB the first and last 2 KiB are compared.

# repeated_tool_call_exact_input

One tool was called at least 3 times with the same input.

Why: the same call gives the same result, unless something else changed in between.

Try: keep the result of the first call, change the arguments, or leave the loop.

Inputs are the same if they are the same JSON value: the order of keys and white space do not count. There is one
warning for each tool, for its largest group.

# no_progress

A tool was called at least 3 times, and no state_updated or memory_write came between its first call and its last.

Why: the agent works, but nothing it keeps has changed, so the next round starts where the last one did.

Try: record what each attempt gave, or hand over to a person after a few attempts.

# empty_result_loop

A tool returned nothing at least 3 times.

Why: the agent looks for something where it is not.

Try: widen or change the query, look elsewhere, or stop after a few empty results.

Nothing is an output that is null, "", [] or {}, an envelope (results, result, value, output, data, items, matches,
hits, documents, rows) that holds such, or a text with a phrase such as "no results" or "not found". A call that returned
no output at all says nothing.

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

The run has cost more than its budget. Only with a budget: --set cost_budget=0.50 (US dollars).

Why: a loop may be burning money.

Try: look for repeated model calls before this point, or raise the budget if the work is worth it.

# handoff_bounce

The last handoffs, 3 to 6 of them, alternate between the same two agents.

Why: neither agent can finish the task, so each gives it back to the other.

Try: say which agent owns the task, pass on more of what is known, or limit handoffs.

# same_call_same_result

The same call brought the same result again: three times close together, or more often with other calls in between. If it
fails each time: four times.

Why: nothing the agent did in between changed the answer, so asking once more will not either.

Try: use the answer that is already there, or do something that can change it.

The same call is one with the same target: optional arguments, the order of keys and the command that reads a file do not
count. The same result is the same once timestamps, durations, ids and the like are masked. Each occurrence counts half
for every 24 steps that have passed since; a step that changed something counts as 24 of them, or as 12 if the call failed:
to run the tests again after an edit is no repetition. A call fails also when it returned and its output tells so: by an exit
status, an error, a traceback. A polling tool has stuck_polling instead. The profile default has this rule.

# cycle

A pattern of 2 to 8 steps, calls and results, stands at the end 3 times, or 4 of its steps came again in their order; and none
of them told anything new.

Why: the agent goes round: each round ends where the last one began.

Try: break the pattern at its weakest step: read the first error again, or try what has not been tried.

Until the third round begins it is worth a nudge and no more, since an agent that lost its context reads its files again. Where
a step of the pattern failed, three whole rounds are needed: to do it all once more after a failure is a retry.

# same_result

A tool that only reads returned the same in a row to changed inputs: 4 times if they ask one question in other words, 6 times if
nothing was found, 12 times otherwise.

Why: the changes do not reach what decides the answer.

Try: question the assumption that all attempts share, or use another source.

Two inputs are one question if they differ only in options such as a timeout, or have two words and half of all words in common.
They are about two items if they differ in one word in its place, or in words with digits; then one answer for all may well be
right. So what is not one question in other words, or found nothing, is worth a nudge and never more.

# same_error

A tool failed at least 4 times in a row with the same kind of error, although its input changed.

Why: the variations do not touch the cause.

Try: read the first error once more, and fix its cause before trying again.

The kind of an error is its line that matters, with paths, numbers and quoted parts masked. A call fails also when it returned and
its output tells so: by an exit status, an error, a traceback. Where other calls changed something in between, the attempts may be
honest, and it is worth a nudge and never more.

# stuck_polling

A polling tool brought the same answer to the same question at least 8 times in a row.

Why: what is waited for may never come.

Try: wait longer between polls, look at the job itself, or give up after a time.

Some things take their time, so it is worth a nudge and no more before it is 16 times.

# repeated_message

An agent sent nearly the same message at least 3 times within its last 6, and no step told anything new in between.

Why: the agent restates instead of acting.

Try: take the next concrete action, or say what is missing and stop.

Nearly the same is 80 % of the runs of three words, without case, numbers and punctuation. Where more than eight of them
differ, a long text may have been sent again with its corrections, and it is worth a nudge and never more.

# restated_messages

The agents said again, since the last news, as much as 1.2 messages hold.

Why: those who say what they said before, in other words or in the same, seldom do anything else than before.

Try: say what is new since the last attempt; if there is nothing, make a new plan or stop and say what is missing.

A message counts by how many of its runs of two words its agent has said before in one of its last six messages, or by those
of its first twelve words, if that is more; three messages later it counts half. Messages of fewer than eight words count
nothing. It begins anew with news of a step, with a person's message, and with a new plan: a message over six times as long
as those of its agent before. Since people who work together say things again, too, it is worth a nudge and never more.

# repeating_text

A message ends in the same passage at least 5 times, over 200 bytes or more.

Why: the model has fallen into a repetition and will go on until it is cut off.

Try: stop the generation, and start again with less context or another temperature.

# idle_handoffs

Two agents handed over to each other at least 4 times in a row, and nothing new was told in between; 6 times if nothing is known
of what they did.

Why: neither agent moves the task on.

Try: say which agent owns the task and what would count as done.

Little is known where no call ended and the agents said at most 25 words from one handoff to the next. Then it is worth a nudge and
never more.

# repeat_limit

One call came more often than the limit allows (3 times), with the same arguments to the byte.

Why: an agent that does not like a result tends to ask again, word for word, and pays for it each time.

Try: answer the call with a hint instead of running it, or stop the run. Leave out tools that poll: ignore.

Key order and white space count: {"a":1,"b":2} and {"b":2,"a":1} are two calls. The counter lives as long as the run; a new
turn does not reset it. The profile agentium has this rule.

# call_cycle

The last 1 to 3 calls are those before them.

Why: the agent goes round in a fixed pattern of calls.

Try: read the error messages again, try another strategy, take smaller steps.

Only a repetition of the whole pattern without a gap counts, never the reuse of a tool. It fires when a round is complete.
The profile cycles has this rule; its policy escalates for each pattern by itself.

# doom_loop

At least 3 calls in a row had the same arguments, or 4 the same target.

Why: a call that did not help twice will not help the third time.

Try: try a different approach or tool, say what blocks the progress, or say that the task is done.

The target leaves out optional arguments, and whichever command reads a file. At most the last 10 calls are looked at. The
profile attocode has this rule.

# test_fix_cycle

At least 3 test runs in a row failed.

Why: the fixes do not touch what is wrong.

Try: read the error messages again, ask whether the approach is right at all, try a different fix.

A test run is a shell call whose command runs tests or whose output is that of a test runner. A pass begins the count anew.

# failure_cascade

At least 3 shell calls in a row failed.

Why: the shell is not the way to what the agent wants.

Try: check paths and tools one by one; read, write and edit files with the tools that are made for it.

# summary_loop

At least 2 messages in a row came without a tool call.

Why: the agent sums up instead of working.

Try: pick a task and begin with a tool.

# turn_time

The turn has taken longer than it may (120 seconds).

Why: something in the turn does not come to an end.

Try: end the turn with what there is, or allow more time.

# unchanged_result

A tool returned the same to the byte at least 4 times in a row, with no call of another tool in between.

Why: the calls change nothing.

Try: do something else before calling it again.

A new turn, a state update, a memory write and an override end the row. The profile loopguard has this rule.

# idempotent_calls

A tool that only reads was called at least 5 times in the turn.

Why: reading is cheap, but an agent that only reads does not get on.

Try: use what was read.

Whether a tool only reads is said by a list, by the tool's own hints, or by a word in its name (read, get, list, search, find,
show, view, check). The profile loopguard has this rule.

# mutating_calls

A tool that changes something was called at least 3 times in the turn.

Why: each call may have an effect.

Try: check what the calls before have done.

# generic_repeat

One call came at least 10 times within the last 30, with the same arguments.

Why: calls in between do not make a repetition useful.

Try: keep the result of the first call.

Polling tools have poll_no_progress instead. The profile loopdetection has this rule.

# poll_no_progress

A polling tool gave the same answer to the same call at least 10 times.

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
*/
package detect
