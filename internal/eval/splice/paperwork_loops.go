package splice

import (
	"fmt"
	"strings"
)

// The loops of this file are those of assistants that work on documents, sheets and slides, by tools or by mouse and keys.

func paperworkLoops() []kind {
	return []kind{
		{name: "format_toggled_on_and_off", build: formatToggledOnAndOff},
		{name: "overwrite_prompt_declined_each_time", build: overwritePromptDeclinedEachTime},
		{name: "placeholder_never_replaced", build: placeholderNeverReplaced},
		{name: "formulas_read_back_as_none", build: formulasReadBackAsNone},
	}
}

// desktop runs the actions of an agent that uses a computer by mouse and keys.
type desktop struct {
	*generator
	form, minute int
}

// element is a part of a screen, as an accessibility tree tells it.
type element struct{ role, name, text string }

// desktop returns a desktop that answers each action with an accessibility tree.
func (p *generator) desktop() *desktop { return &desktop{p, p.IntN(3), p.between(480, 1000)} }

// screen returns the accessibility tree of a window.
func (d *desktop) screen(title string, elements []element) string {
	d.minute += d.IntN(2)
	text := ""
	switch d.form {
	case 0:
		text = fmt.Sprintf("tag\tname\ttext\tposition (top-left x&y)\tsize (w&h)\nlabel\tClock\tJun 11  %02d:%02d\t(889, 0)\t(140, 27)\nframe\t%s\t\"\"\t(70, 27)\t(1850, 1053)\n", d.minute/60, d.minute%60, title)
		for k, e := range elements {
			text += fmt.Sprintf("%s\t%s\t%q\t(%d, %d)\t(%d, 24)\n", e.role, e.name, e.text, 90+40*(k%9), 80+31*k, 60+10*(k%4))
		}
	case 1:
		text = fmt.Sprintf("Focused window: %s\nTime: %02d:%02d\nInteractive elements:\n", title, d.minute/60, d.minute%60)
		for k, e := range elements {
			text += fmt.Sprintf("%d: %s %q %s\n", k, e.role, e.name, e.text)
		}
	default:
		text = "window " + title + "\n"
		for k, e := range elements {
			text += fmt.Sprintf("  %s '%s' value='%s' (%d,%d)\n", e.role, e.name, e.text, 90+40*(k%9), 80+31*k)
		}
	}
	return strings.TrimSpace(text)
}

// act returns an action and the screen after it. What is a key, a text or the name of an element.
func (d *desktop) act(action, what string, screen string) entry {
	x, y := 90+17*(len(what)%60), 80+31*(len(what)%23)
	switch d.form {
	case 0:
		args := object("action", action, "text", what)
		if action == "left_click" {
			args = object("action", action, "coordinate", []int{x + d.IntN(5), y + d.IntN(4)})
		}
		return call("computer", args, content(screen))
	case 1:
		name := map[string]string{"left_click": "click", "key": "press_key", "type": "type_text"}[action]
		return call("mcp__desktop__"+name, object(map[string]string{"left_click": "element", "key": "keys", "type": "text"}[action], what), content(screen))
	}
	code := map[string]string{"left_click": fmt.Sprintf("pyautogui.click(%d, %d)", x+d.IntN(5), y+d.IntN(4)), "key": "pyautogui.hotkey('" + strings.ReplaceAll(what, "+", "', '") + "')", "type": fmt.Sprintf("pyautogui.write(%q, interval=0.02)", what)}[action]
	return call("execute_python", object("code", "import pyautogui\n"+code), object("returncode", 0, "accessibility_tree", screen))
}

// formatToggledOnAndOff selects a part of a document and clicks a button that turns a format on, and by its next click off.
func formatToggledOnAndOff(p *generator) (entries []entry, _ int) {
	d, sheet, on := p.desktop(), p.coin(), p.coin()
	format := p.pick("Bold", "Italic", "Underline", "Bulleted List", "Strikethrough")
	title, selects, part := capitalized(p.word())+".odt - LibreOffice Writer", p.pick("ctrl+a", "ctrl+shift+End", "shift+Home"), "the text"
	shown := capitalized(p.phrase(3, 6))
	if sheet {
		format, part = p.pick("Bold", "Wrap Text", "Merge and Center Cells", "Format as Percent", "AutoFilter"), "the header row"
		title, selects = capitalized(p.word())+".xlsx - LibreOffice Calc", p.pick("shift+space", "ctrl+shift+Right")
	}
	others := p.shuffled("Save", "Undo", "Redo", "Cut", "Copy", "Paste", "Font Color", "Borders", "Insert Image", "Insert Chart", "Find & Replace", "Print")[:p.between(2, 12)]
	view := func() string {
		elements := []element{{"toggle-button", format, map[bool]string{true: "pressed", false: "not pressed"}[on]}}
		for _, name := range others {
			elements = append(elements, element{"push-button", name, ""})
		}
		return d.screen(title, append(elements, element{"paragraph", "", shown}))
	}
	w := wording{
		[]string{"I select " + part + " first.", "Let me select " + part + "."},
		[]string{"The format is not applied.", "It does not look right yet.", "`" + format + "` does not seem to be active.", "I do not see a change.", ""},
		[]string{"Let me select " + part + " and try again.", "I'll select it once more.", "Let me apply it again.", "First the selection again."},
	}
	for k := range p.laps() {
		entries = append(entries, d.act("key", selects, view()).after(w.of(p, k)))
		on = !on
		entries = append(entries, d.act("left_click", format, view()).after(thought{"", p.pick("Now I click `"+format+"`.", "Click `"+format+"`.", "Now the button in the toolbar.")}))
	}
	return entries, 2
}

// overwritePromptDeclinedEachTime saves under a name that exists, declines to replace the file, and saves under the same name again.
func overwritePromptDeclinedEachTime(p *generator) (entries []entry, _ int) {
	d, name := p.desktop(), p.word()+"_"+p.pick("final", "report", "v2", "summary", "2026")+p.pick(".xlsx", ".ods", ".csv")
	title, open := capitalized(p.word())+".ods - LibreOffice Calc", p.pick("ctrl+shift+s", "F12")
	decline := p.pick("Cancel", "No", "Keep Existing File")
	var files []element
	for _, other := range p.distinctWords(p.between(2, 14)) {
		files = append(files, element{"list-item", other + p.pick(".pdf", ".xlsx", ".png", ".docx"), ""})
	}
	document := []element{{"menu", "File", ""}, {"menu", "Edit", ""}, {"table-cell", "A1", capitalized(p.word())}, {"table-cell", "B1", capitalized(p.word())}}
	dialog := func(typed string) []element {
		return append(append([]element{{"text", "File name:", typed}}, files...), element{"list-item", name, ""}, element{"push-button", "Save", ""}, element{"push-button", "Cancel", ""})
	}
	prompt := append(dialog(name), element{"alert", "Question", "A file named \"" + name + "\" already exists. Do you want to replace it?"}, element{"push-button", decline, ""}, element{"push-button", "Replace", ""})
	w := wording{
		[]string{"I save the file as " + name + ".", "Now I save it under the name " + name + "."},
		[]string{"The file was not saved.", "The dialog is closed, and the document is still unsaved.", "It is not saved yet.", ""},
		[]string{"Let me save it as " + name + ".", "Let me open the save dialog again.", "I'll try to save it again.", "Once more: save as."},
	}
	for k := range p.laps() {
		entries = append(entries,
			d.act("key", open, d.screen("Save As", dialog(p.pick("", "Untitled 1")))).after(w.of(p, k)),
			d.act("type", name, d.screen("Save As", dialog(name))).after(thought{"", p.pick("I type the file name.", "Now the name.", "")}),
			d.act("key", "Return", d.screen("Save As", prompt)).after(thought{"", p.pick("Press Enter to save.", "Confirm.", "")}),
			d.act("left_click", decline, d.screen(title, document)).after(thought{p.pick("There is a file of that name.", "It asks whether to replace the file."), p.pick("I should not overwrite it.", "To be safe I do not replace it.", "I decline.", "")}))
	}
	return entries, 4
}

// placeholderNeverReplaced replaces a placeholder of a template by tools that do not find it, and the text still has the placeholder.
func placeholderNeverReplaced(p *generator) (entries []entry, _ int) {
	s, field := p.secretary(), p.word()+"_"+p.pick("name", "date", "amount", "title")
	mark := p.pick("{{"+field+"}}", "<<"+field+">>", "["+strings.ToUpper(field)+"]", "${"+field+"}", "«"+field+"»")
	value, file := capitalized(p.word())+" "+capitalized(p.word()), p.word()+p.pick("_offer", "_contract", "_letter")+".docx"
	server, replace, read := "word", p.pick("search_and_replace", "replace_text"), p.pick("get_document_text", "find_text_in_document")
	if p.coin() {
		server, replace, read, file = "slides", "replace_all_text", "get_presentation_text", p.word()+p.pick("_deck", "_pitch", "_review")+".pptx"
	}
	tells := p.pick("Replaced 0 occurrences.", "No occurrences of the text found.", "Search and replace completed. Replacements: 0", "Document saved. Replacements made: 0")
	var before, after []string
	for range p.between(1, 14) {
		before, after = append(before, capitalized(p.phrase(4, 12))+"."), append(after, capitalized(p.phrase(3, 9))+".")
	}
	text := strings.Join(before, "\n") + "\nDear " + mark + ", " + p.phrase(3, 8) + ".\n" + strings.Join(after, "\n")
	bare := strings.Trim(mark, "{}<>[]$«»")
	w := wording{
		[]string{"Let me fill in the placeholder " + mark + ".", "I replace " + mark + " by " + value + "."},
		[]string{"The placeholder is still in the text.", "It was not replaced.", "The text is unchanged.", "Still " + mark + ".", ""},
		[]string{"Let me replace it with other options.", "Let me try it without the brackets.", "I'll try again with another search text.", "Let me replace it once more.", "Maybe there is a space in it."},
	}
	for k := range p.laps() {
		find := p.pick(mark, mark, bare, " "+mark, mark+",", strings.ToUpper(mark), "Dear "+mark)
		args := []any{"filename", file, "find_text", find, "replace_text", value}
		if option := p.IntN(4); option < 2 {
			args = append(args, []string{"match_case", "whole_word"}[option], p.coin())
		}
		entries = append(entries, s.use(server, replace, object(args...), tells).after(w.of(p, k)),
			s.use(server, read, object("filename", file), text).after(thought{"", p.pick("Let me check the document.", "Is it replaced?", "Verify.", "")}))
	}
	return entries, 2
}

// formulasReadBackAsNone writes formulas into a sheet by a library that does not calculate, and reads no values back.
func formulasReadBackAsNone(p *generator) (entries []entry, _ int) {
	h, python, file, cells := p.harness(), p.interpreter(), p.word()+".xlsx", p.between(2, 12)
	column, row, shell := p.pick("D", "E", "F", "H"), p.between(2, 20), p.coin()
	run := func(code, output string) entry {
		if shell {
			return h.shell("python3 - <<'EOF'\n"+code+"\nEOF", output, 0)
		}
		return python(code, output)
	}
	formulas := []string{"=SUM(B%[1]d:C%[1]d)", "=B%[1]d+C%[1]d", "=SUM(B%[1]d,C%[1]d)", "=SUMPRODUCT(B%[1]d:C%[1]d)", "=(B%[1]d+C%[1]d)", "=+B%[1]d+C%[1]d"}
	extras := []string{"", "wb.calculation.fullCalcOnLoad = True\n", "ws.sheet_view.showFormulas = False\n", "wb.active = 0\n", "wb.calculation.calcMode = \"auto\"\n"}
	none := p.pick("None", "None", "nan")
	w := wording{
		[]string{"Let me write the formulas.", "I add a column with the sums."},
		[]string{"The values are empty.", "It reads None. The formulas do not work.", "The cells have no values.", "Still None.", "The column is still empty when I read it.", ""},
		[]string{"Let me write the formulas in another way.", "Let me rewrite the column.", "I'll try another formula.", "Let me set them again and save.", "Let me fix the formulas."},
	}
	for k := range p.laps() {
		code := fmt.Sprintf("from openpyxl import load_workbook\nwb = load_workbook(\"%s\")\nws = wb.active\nfor r in range(%d, %d):\n    ws[f\"%s{r}\"] = f\"%s\"\n%swb.save(\"%s\")", file, row, row+cells, column, strings.ReplaceAll(p.pick(formulas...), "%[1]d", "{r}"), p.pick(extras...), file)
		text := ""
		for r := range cells {
			text += fmt.Sprintf("%s%d %s\n", column, row+r, none)
		}
		check := fmt.Sprintf("from openpyxl import load_workbook\nws = load_workbook(\"%s\", data_only=True).active\nfor r in range(%d, %d):\n    print(f\"%s{r}\", ws[f\"%s{r}\"].value)", file, row, row+cells, column, column)
		if none == "nan" {
			check = fmt.Sprintf("import pandas as pd\nprint(pd.read_excel(\"%s\").iloc[:, -1].to_string())", file)
			text = ""
			for r := range cells {
				text += fmt.Sprintf("%d   NaN\n", r)
			}
		}
		entries = append(entries, run(code, p.pick("", "saved", "ok")).after(w.of(p, k)), run(check, strings.TrimSpace(text)).after(thought{"", p.pick("Now read the values back.", "Let me verify the values.", "Check the result.")}))
	}
	return entries, 2
}
