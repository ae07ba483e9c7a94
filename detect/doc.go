/*
Package detect holds the detectors, one file each. A detector reads the facts that a run keeps and says what is true at
the latest event; it keeps nothing itself. Suites list detectors with their settings; package policy turns what they
find into warnings and decisions.

The sections below are what "unloop explain" prints, one for each rule: what fires it, why it matters, what to try.

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

The same call brought the same result again: three times close together, or more often with other calls in between.

Why: nothing the agent did in between changed the answer, so asking once more will not either.

Try: use the answer that is already there, or do something that can change it.

The same call is one with the same target: optional arguments, the order of keys and the command that reads a file do not
count. The same result is the same once timestamps, durations, ids and the like are masked. Each occurrence counts half
for every 24 steps that have passed since. A polling tool has stuck_polling instead. The profile default has this rule.

# cycle

The last 2 to 8 steps, calls and results, are those before them, and none of them told anything new.

Why: the agent goes round: each round ends where the last one began.

Try: break the pattern at its weakest step: read the first error again, or try what has not been tried.

# same_result

A tool returned the same result at least 4 times in a row, although its input changed.

Why: the changes do not reach what decides the answer.

Try: question the assumption that all attempts share, or use another source.

# same_error

A tool failed at least 4 times in a row with the same kind of error, although its input changed.

Why: the variations do not touch the cause.

Try: read the first error once more, and fix its cause before trying again.

The kind of an error is its line that matters, with paths, numbers and quoted parts masked.

# stuck_polling

A polling tool brought the same answer at least 8 times in a row.

Why: what is waited for may never come.

Try: wait longer between polls, look at the job itself, or give up after a time.

# repeated_message

An agent sent nearly the same message at least 3 times within its last 6, and no step told anything new in between.

Why: the agent restates instead of acting.

Try: take the next concrete action, or say what is missing and stop.

Nearly the same is 80 % of the runs of three words, without case, numbers and punctuation.

# repeating_text

A message ends in the same passage at least 5 times, over 200 bytes or more.

Why: the model has fallen into a repetition and will go on until it is cut off.

Try: stop the generation, and start again with less context or another temperature.

# idle_handoffs

Two agents handed over to each other at least 4 times in a row, and nothing new was told in between.

Why: neither agent moves the task on.

Try: say which agent owns the task and what would count as done.
*/
package detect
