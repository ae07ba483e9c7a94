package splice

import (
	"fmt"
	"strings"
)

// The loops of this file are those of several agents that write to each other: an orchestrator, coders, an executor, a browser.

func squadLoops() []kind {
	return []kind{
		{name: "code_pasted_again_for_executor", build: codePastedAgainForExecutor},
		{name: "auto_reply_keeps_chat_alive", build: autoReplyKeepsChatAlive},
		{name: "dead_instruction_reworded", build: deadInstructionReworded},
		{name: "advice_instead_of_act", build: adviceInsteadOfAct},
	}
}

// executed is what an agent that runs code answers. A stretch has one form.
func (p *generator) executed() func(status int, output string) entry {
	agent, form := p.pick("executor", "Computer_terminal", "code_runner", "user_proxy"), p.IntN(3)
	return func(status int, output string) entry {
		switch form {
		case 0:
			state := "execution succeeded"
			if status != 0 {
				state = "execution failed"
			}
			return say(fmt.Sprintf("exitcode: %d (%s)\nCode output: %s", status, state, output)).by(agent)
		case 1:
			return say(fmt.Sprintf("The script exited with code %d and the output was:\n```\n%s\n```", status, output)).by(agent)
		}
		return say(output).by(agent)
	}
}

// codePastedAgainForExecutor posts the same program with other names and comments, and the executor reports the same error.
func codePastedAgainForExecutor(p *generator) (entries []entry, _ int) {
	what, coder, run := p.word(), p.pick("coder", "assistant", "Python_Expert", "engineer"), p.executed()
	fault := []struct{ head, load, failure string }{
		{"import os", "key = os.environ['" + strings.ToUpper(what) + "_API_KEY']", "KeyError: '" + strings.ToUpper(what) + "_API_KEY'"},
		{"import pandas as pd", "data = pd.read_csv('" + what + "_2026.csv')", "FileNotFoundError: [Errno 2] No such file or directory: '" + what + "_2026.csv'"},
		{"import requests", "data = requests.get('https://api." + what + ".example/v1/list', timeout=10).json()", "requests.exceptions.ConnectionError: HTTPSConnectionPool(host='api." + what + ".example', port=443): Max retries exceeded (Caused by NameResolutionError(\"<urllib3.connection.HTTPSConnection object at 0x7f%010x>: Failed to resolve 'api." + what + ".example'\"))"},
		{"import pandas as pd\nimport openpyxl", "data = pd.read_excel('report.xlsx', sheet_name='" + what + "')", "ModuleNotFoundError: No module named 'openpyxl'"},
	}[p.IntN(4)]
	sorry := p.shuffled("I apologize for the confusion. Here is the corrected code:", "Thank you for the feedback. Let me fix that:", "It seems that there was an error. Here's the updated version:", "Let's correct the script. Please run the following code:", "I see the issue. Try this instead:", "My apologies. Here is the revised code, which handles the error:", "Let me provide the full code again with error handling:", "You're right. The following version should work:")
	for k := range p.between(5, 8) {
		name := p.pick("data", "df", "records", "result", what)
		code := fault.head + p.pick("", "\nimport sys", "\nfrom datetime import date") + "\n\n" + p.pick("# load the "+what, "# Step 1: read the data", "# fetch all rows", "# all "+what+" entries, with error handling") + "\n" +
			p.pick(fault.load, "try:\n    "+fault.load+"\nexcept Exception as e:\n    raise", "def main():\n    "+fault.load+"\n    return data\n\ndata = main()") +
			fmt.Sprintf("\n%s = list(data)\nprint(%s[:%d])", name, name, p.between(3, 20))
		lead := sorry[k]
		if k == 0 {
			lead = p.pick("Here is a script that does it:", "Please run this code:", "First we load the data:")
		}
		reason := fault.failure
		if strings.Contains(reason, "%") {
			reason = fmt.Sprintf(reason, p.Uint64N(1<<40))
		}
		entries = append(entries, say(lead+"\n\n```python\n"+code+"\n```").by(coder),
			run(1, fmt.Sprintf("Traceback (most recent call last):\n  File \"/tmp/tmp%06x/code.py\", line %d, in <module>\n%s", p.IntN(1<<24), p.between(4, 9), reason)))
	}
	return entries, 2
}

// autoReplyKeepsChatAlive answers the automatic reply of a proxy by telling once more that all is done.
func autoReplyKeepsChatAlive(p *generator) (entries []entry, _ int) {
	agent, what := p.pick("assistant", "writer", "analyst", "primary_assistant"), p.pick("summary", "comparison", "analysis", "overview")+" of the "+p.word()+"s"
	role := p.pick("user", "assistant")
	file := p.word() + p.pick("_report.md", "_summary.pdf", ".xlsx", "_final.docx")
	replies := [][]string{
		{"Please continue. If everything is done, reply 'TERMINATE'."},
		{"continue", "Continue.", "Go on.", "go on"},
		{"Thanks. Keep going until the task is finished.", "Is the task finished? If not, continue.", "Reply with the exact final word when the task is finished."},
	}[p.IntN(3)]
	done := append([]string{"The " + what + " is complete. The result is in `" + file + "`. Let me know if you need anything else!"}, p.shuffled(
		"Everything is finished: `"+file+"` has the complete "+what+". Is there anything else I can help you with?",
		"As mentioned, the "+what+" is done and saved as `"+file+"`. Feel free to ask if you have further questions.", "The task has been completed successfully. You can find the "+what+" in `"+file+"`.",
		"I have already finished the "+what+". Please have a look at `"+file+"` and tell me if you want any change.", "All steps of the "+what+" are done, nothing is left. The file is `"+file+"`.",
		"Great! The "+what+" stands as delivered in `"+file+"`. I'm happy to help with anything else.", "There is nothing more to do: the "+what+" was delivered as `"+file+"`. How may I assist you further?",
		"To summarise: the "+what+" is ready, see `"+file+"`. Do you have another request?")...)
	proxy := p.pick("user_proxy", "admin", "Human_Proxy")
	for k := range p.between(6, 9) {
		entries = append(entries, say(done[k]).by(agent), entry{Kind: "message", Role: role, Text: p.pick(replies...), Agent: proxy})
	}
	return entries, 2
}

// deadInstructionReworded gives one instruction to an agent in other words each time; the agent does the same, and the page stays as it is.
func deadInstructionReworded(p *generator) (entries []entry, _ int) {
	lead, worker, what := p.pick("Orchestrator", "supervisor", "Manager"), p.pick("BrowserAgent", "WebSurfer", "ui_operator"), p.word()
	title, at := capitalized(what)+" "+p.pick("portal", "console", "dashboard"), p.between(9, 60)
	button := p.pick("Export CSV", "Attach document", "Confirm", "Generate PDF")
	aim := map[string]string{"Export CSV": "export the " + what + " table", "Attach document": "attach the " + what + " document", "Confirm": "confirm the " + what, "Generate PDF": "get the list of " + what + " entries as a PDF"}[button]
	instructions := append([]string{"Please " + aim + " on the " + title + " and report the result."}, p.shuffled(
		"Use the button '"+button+"' of the "+title+" to "+aim+".", "Please try to "+aim+" again, following the instructions on the screen.",
		"Go to the "+title+" and "+aim+". Once this is complete, provide the content.", "Please complete the step: "+aim+" (button '"+button+"'), then return what you got.", "We still need to "+aim+". Click '"+button+"' and describe what happens.",
		"Please make sure to "+aim+" this time, and wait until it is finished.", "Let's proceed: "+aim+", then tell me when it is ready.")...)
	w := wording{
		[]string{"For this the page has to be operated."},
		[]string{"That is not done yet.", "The result is still missing.", "We do not have it yet.", "Stalled.", ""},
		[]string{worker + " goes on.", "I hand it to " + worker + ".", "Next speaker: " + worker + ".", "Let me give clearer instructions."},
	}
	page := fmt.Sprintf("[%d] textbox 'Search'\n[%d] button '%s'\n[%d] link 'Help'\nText on the page: %s", at-1, at, button, at+1, p.phrase(6, 12))
	form := p.IntN(3)
	for k := range p.between(5, 8) {
		var report string
		switch form {
		case 0:
			report = fmt.Sprintf("I clicked '%s'.\n\nHere is a screenshot of the page [%s](https://%s.example/app?s=%x). The viewport shows %d%% of the webpage, and is positioned at the top of the page.\n\n%s", button, title, what, p.IntN(1<<24), 42, page)
		case 1:
			report = fmt.Sprintf("Action: click(%d)\nObservation (%d ms):\n%s", at, p.between(200, 3000), page)
		case 2:
			report = p.pick("I have clicked", "I clicked on", "I pressed") + " '" + button + "'" + p.pick(", and the page shows:", ". This is what I see now:", ". The page after it:") + "\n" + page
		}
		entries = append(entries, entry{Kind: "handoff", Agent: lead, From: lead, To: worker}.after(w.of(p, k)), say(instructions[k]).by(lead), say(report).by(worker))
	}
	return entries, 3
}

// adviceInsteadOfAct answers each request to look something up with a plan of how one could look it up.
func adviceInsteadOfAct(p *generator) (entries []entry, _ int) {
	lead, helper, what := p.pick("Orchestrator", "planner", "chat_manager"), p.pick("Assistant", "Researcher", "expert"), p.pick("number of visitors", "annual output", "opening year", "length", "budget")+" of the "+capitalized(p.word())+" "+p.pick("Museum", "Bridge", "Dam", "Railway", "Library")
	ask := append([]string{"Please look up the " + what + " and give me the figure."}, p.shuffled(
		"Find the "+what+" in a reliable source and tell us the value.", "Could you search for the "+what+" by other means and report what you find?",
		"We still need the "+what+". Please get it and state it.", "Please try another source for the "+what+" and answer with the number.", "Search again for the "+what+", perhaps on specialised sites, and provide it.",
		"Use any method to obtain the "+what+", then share the result.", "What is the "+what+"? Please find it out.")...)
	steps := []string{
		"**Search the web**: use specific terms such as \"" + what + "\" together with the year.", "**Check official sources**: the site of the agency in charge usually publishes it.", "**Consult databases**: statistical portals often have the series.",
		"**Ask in forums**: experts of the field may know where it is listed.", "**Use archives**: older versions of the page may still show the value.", "**Verify**: compare at least two sources before you use the value.", "**Contact the publisher** and ask for the original table.",
	}
	open := p.shuffled("To find the "+what+", we can proceed as follows:", "Here's a plan to get the "+what+":", "Let's consider these steps:", "Certainly! The "+what+" can be found in this way:", "Let's outline an approach:", "In this situation, I suggest the following:", "We can make use of other sources. Steps to proceed:", "Here is how one would obtain the "+what+":")
	closing := []string{"By following these steps, you should be able to find it.", "Please let me know once you have the result.", "Let's start with the first step.", "This should lead us to the " + what + ".", ""}
	for k := range p.between(5, 8) {
		text := open[k] + "\n"
		for n, step := range p.shuffled(append([]string(nil), steps...)...)[:p.between(3, 5)] {
			text += fmt.Sprintf("\n%d. %s", n+1, step)
		}
		entries = append(entries, say(ask[k]).by(lead), say(strings.TrimSpace(text+"\n\n"+p.pick(closing...))).by(helper))
	}
	return entries, 2
}
