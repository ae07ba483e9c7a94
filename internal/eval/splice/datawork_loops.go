package splice

import (
	"encoding/json"
	"fmt"
	"strings"
)

// The loops of this file are those of agents that work with notebooks, data frames, competitions and web sources.

func dataworkLoops() []kind {
	return []kind{
		{name: "module_cached_in_kernel", build: moduleCachedInKernel},
		{name: "submission_has_wrong_rows", build: submissionHasWrongRows},
		{name: "chained_assignment_changes_nothing", build: chainedAssignmentChangesNothing},
		{name: "found_figure_verified_again", build: foundFigureVerifiedAgain},
	}
}

// laps returns how often a loop of several steps goes round: mostly 5 to 10 times, and now and then fewer or more times.
func (p *generator) laps() int {
	switch p.IntN(8) {
	case 0, 1:
		return p.between(3, 4)
	case 2:
		return p.between(14, 20)
	}
	return p.between(5, 10)
}

// moduleCachedInKernel edits a module that a notebook has imported. The kernel keeps the old module, and the cell fails alike.
func moduleCachedInKernel(p *generator) (entries []entry, _ int) {
	h, number, jupyter := p.harness(), p.between(8, 40), p.coin()
	run := func(code, text string) entry {
		if jupyter {
			return call("mcp__jupyter__execute_code", object("kernel_id", "main", "code", code), content(text))
		}
		return call("execute_cell", object("source", code), object("execution_count", number, "output_type", "error", "text", text))
	}
	module, column, frame := p.pick("features", "cleaning", "loaders", "metrics", "helpers", "transforms"), p.word(), p.pick("df", "data", "orders", "raw", "frame")
	function := p.pick("add", "build", "prepare", "compute") + "_" + p.pick("lags", "features", "totals", "windows", "shares")
	path, line := p.pick("src/", "lib/", "notebooks/", "pipeline/")+module+".py", p.between(14, 140)
	class, reason, _ := strings.Cut(p.pick("KeyError:'"+column+"'", "TypeError:unsupported operand type(s) for -: 'str' and 'str'", "ValueError:cannot reindex on an axis with duplicate labels", "AttributeError:'DataFrame' object has no attribute 'append'", "IndexError:single positional indexer is out-of-bounds"), ":")
	bodies := []string{
		frame + " = " + frame + ".copy()", frame + ".columns = [c.strip().lower() for c in " + frame + ".columns]", frame + "[\"" + column + "\"] = pd.to_numeric(" + frame + "[\"" + column + "\"], errors=\"coerce\")",
		frame + " = " + frame + ".reset_index(drop=True)", frame + " = " + frame + ".rename(columns={\"" + capitalized(column) + "\": \"" + column + "\"})", "if \"" + column + "\" not in " + frame + ".columns:\n        return " + frame,
		"out = pd.concat([out, part], ignore_index=True)", frame + " = " + frame + ".loc[:, ~" + frame + ".columns.duplicated()]", frame + " = " + frame + ".drop_duplicates(subset=[\"" + column + "\"])", "part = " + frame + ".groupby(\"" + column + "\", as_index=False).first()",
	}
	cells := []string{
		"out = " + function + "(" + frame + ")", "from " + module + " import " + function + "\n\nout = " + function + "(" + frame + ")\nout.head()", "out = " + function + "(" + frame + ".copy())", "from " + module + " import " + function + "\n" + function + "(" + frame + ").shape",
		"import " + module + "\nout = " + module + "." + function + "(" + frame + ")", "out = " + function + "(" + frame + ")\nprint(out.describe())",
	}
	w := wording{
		[]string{"The error is in `" + function + "`. Let me fix it.", "Let me handle this in `" + path + "`."},
		[]string{"The same " + class + " at the same line.", "It still fails in `" + function + "`.", "Strange, the fix should have covered this.", "Same traceback, although the line is different now.", "I see the issue now.", ""},
		[]string{"Let me fix `" + function + "` properly.", "Let me be more defensive here.", "I'll rewrite this part of the function.", "Let me change how the column is read.", "Let me update `" + module + ".py` again."},
	}
	before := "out = " + frame + "[\"" + column + "\"]"
	for k := range p.repeats() {
		after := p.pick(bodies...)
		for after == before {
			after = p.pick(bodies...)
		}
		code := p.pick(cells...)
		number += p.between(1, 2)
		first, _, _ := strings.Cut(after, "\n")
		at := strings.Count(code[:strings.Index(code, function+"(")], "\n") + 1
		text := fmt.Sprintf("%s\n%-42sTraceback (most recent call last)\nCell In[%d], line %d\n----> %d %s\n\nFile /srv/app/%s:%d, in %s(%s)\n", strings.Repeat("-", 75), class, number, at, at, strings.Split(code, "\n")[at-1], path, line, function, frame)
		for n := -p.between(0, 3); n <= p.between(0, 3); n++ {
			shown, mark := strings.TrimPrefix(p.python(1)[0], "    "), "     "
			if n == 0 {
				shown, mark = "    "+first, "---> "
			}
			text += fmt.Sprintf("%s%d %s\n", mark, line+n, shown)
		}
		entries = append(entries, h.replace(path, before, after).after(w.of(p, k)), run(code, text+"\n"+class+": "+reason).after(p.runAgain()))
		before = after
	}
	return entries, 2
}

// columns returns lines of a program that add columns to the data.
func (p *generator) columns() []string {
	lines := make([]string, p.between(1, 9))
	for k := range lines {
		lines[k] = fmt.Sprintf(p.pick("train['%[1]s_log'] = np.log1p(train['%[1]s'])", "test['%[1]s_log'] = np.log1p(test['%[1]s'])", "for df in (train, test):\n    df['%[1]s_%[2]s'] = df['%[1]s'] / (df['%[2]s'] + 1)", "train['%[1]s'] = train['%[1]s'].astype('category')", "# %[1]s and %[2]s belong together", "means = train.groupby('%[1]s')['%[2]s'].mean()"), p.word(), p.word())
	}
	return lines
}

// entryScript returns a program that fits a model and writes a submission. All of them drop rows of the test data.
func (p *generator) entryScript(target string) string {
	library, model, _ := strings.Cut(p.pick("lightgbm:LGBMClassifier", "xgboost:XGBClassifier", "catboost:CatBoostClassifier", "sklearn.ensemble:RandomForestClassifier", "sklearn.ensemble:HistGradientBoostingClassifier", "sklearn.linear_model:LogisticRegression"), ":")
	return "import pandas as pd\nimport numpy as np\nfrom " + library + " import " + model + "\n" + p.pick("", "from sklearn.model_selection import StratifiedKFold\n", "from sklearn.preprocessing import StandardScaler\n") +
		"\ntrain = pd.read_csv('data/train.csv')\ntest = pd.read_csv('data/test.csv')\n" + p.pick("train, test = train.dropna(), test.dropna()\n", "test = test.dropna()\ntrain = train.dropna()\n", "for df in (train, test):\n    df.dropna(inplace=True)\n") +
		p.pick("# encode the categories\n", "", "features = [c for c in train.columns if c not in ('id', '"+target+"')]\n", "y = train.pop('"+target+"')\n") + strings.Join(p.columns(), "\n") +
		fmt.Sprintf("\n\nmodel = %s(%s=%d)\n", model, p.pick("random_state", "n_estimators", "max_iter", "verbose"), p.between(1, 900)) +
		p.pick("sub = pd.DataFrame({'id': test['id'], '"+target+"': model.predict(test[features])})\nsub.to_csv('submission.csv', index=False)\n", "preds = model.predict_proba(X_test)[:, 1]\ntest.assign("+target+"=preds)[['id', '"+target+"']].to_csv('submission.csv', index=False)\n") +
		p.pick("", "print(sub.head())\n", "print('saved')\n")
}

// submissionHasWrongRows writes one program after the other for a competition; each drops rows of the test data, and the grader refuses.
func submissionHasWrongRows(p *generator) (entries []entry, _ int) {
	h, target, want := p.harness(), p.pick("target", "label", "survived", "churned", "is_fraud", "class"), p.between(300, 40_000)
	have := want - p.between(1, want/8)
	grader := p.pick("python grade.py submission.csv", "mlebench grade-sample submission.csv "+p.word()+"-"+p.word(), "curl -s -F file=@submission.csv http://localhost:5000/validate", "./validate.sh submission.csv")
	reply := fmt.Sprintf(p.pick("Submission is invalid: expected %[1]d rows, got %[2]d", "{\"valid\": false, \"message\": \"Submission must have %[1]d rows (found %[2]d)\"}", "InvalidSubmissionError: Submission should be the same length as the answers (%[2]d != %[1]d)", "ERROR: Evaluation Exception: Submission must have %[1]d rows"), want, have)
	status := p.IntN(2)
	names := []string{"train.py", "train_v2.py", "baseline.py", "final.py", "solution.py", "make_submission.py", "train_simple.py", "run.py", "train_fixed.py", "ensemble.py"}
	w := wording{
		[]string{"I'll write a first solution.", "Let me start with a baseline model."},
		[]string{"The submission is not valid.", "The grader rejected it again.", "Still invalid.", "The format does not match.", "The same validation error.", ""},
		[]string{"Let me write a cleaner version.", "Let me take a different approach with another model.", "I'll create a new script with better handling.", "Let me simplify the pipeline.", "Let me rewrite it from scratch.", "I'll fix the way the submission is written."},
	}
	for k := range p.laps() {
		script, output := p.pick(names...), ""
		score := p.pick("Fold %d: auc = 0.%04d\n", "fold=%d score=0.%04d\n", "[%d] valid_0's auc: 0.%04d\n")
		for fold := range p.pickInt(0, 1, 3, 5, 5, 10, 30) {
			output += fmt.Sprintf(score, fold, p.between(7600, 8999))
		}
		output += fmt.Sprintf(p.pick("Mean CV score: 0.%04d\n", "CV accuracy: 0.%04d\n", "OOF: 0.%04d\n"), p.between(7600, 8999)) + p.pick("saved", "submission.csv written", "Done.", fmt.Sprintf("(%d, 2)", have))
		entries = append(entries, h.create(script, p.entryScript(target)).after(w.of(p, k)),
			h.shell("python "+script, output, 0).after(thought{"", p.pick("Let me run it.", "Run the script.", "Now let me train it.", "")}),
			h.shell(grader, reply, status).after(thought{p.pick("The score looks good.", "Training is done.", ""), p.pick("Let me validate the submission.", "Check the submission.", "Now validate it.")}))
	}
	return entries, 3
}

// chainedAssignmentChangesNothing cleans a column through copies of the frame, and the count of what is wrong stays the same.
func chainedAssignmentChangesNothing(p *generator) (entries []entry, _ int) {
	run, frame, c, count, cell := p.interpreter(), p.pick("df", "data", "orders", "patients", "sales"), p.word(), p.between(12, 9000), p.between(1000, 99_999)
	f := []struct {
		what, check string
		ops         []string
	}{
		{"missing values in `" + c + "`", "%[1]s[\"%[2]s\"].isna().sum()", []string{
			"%[1]s[\"%[2]s\"].fillna(0, inplace=True)", "%[1]s[\"%[2]s\"].fillna(%[1]s[\"%[2]s\"].median())", "%[1]s[%[1]s[\"%[2]s\"].isna()][\"%[2]s\"] = 0", "%[1]s.loc[%[1]s[\"%[2]s\"].isna()][\"%[2]s\"] = %[1]s[\"%[2]s\"].mean()",
			"%[1]s[\"%[2]s\"].replace(np.nan, 0, inplace=True)", "%[1]s.fillna({\"%[2]s\": 0})", "for i, row in %[1]s.iterrows():\n    if pd.isna(row[\"%[2]s\"]):\n        row[\"%[2]s\"] = 0", "%[1]s[\"%[2]s\"].interpolate()", "%[1]s[[\"%[2]s\"]].ffill(inplace=True)",
		}},
		{"negative values in `" + c + "`", "(%[1]s[\"%[2]s\"] < 0).sum()", []string{
			"%[1]s[%[1]s[\"%[2]s\"] < 0][\"%[2]s\"] = 0", "%[1]s[\"%[2]s\"].clip(lower=0)", "%[1]s.loc[%[1]s[\"%[2]s\"] < 0][\"%[2]s\"] *= -1", "%[1]s[\"%[2]s\"].abs()", "%[1]s[\"%[2]s\"].where(%[1]s[\"%[2]s\"] >= 0, 0, inplace=True)",
			"for i, row in %[1]s.iterrows():\n    row[\"%[2]s\"] = max(row[\"%[2]s\"], 0)", "%[1]s.query(\"%[2]s < 0\")[\"%[2]s\"] = 0", "%[1]s[\"%[2]s\"].mask(%[1]s[\"%[2]s\"] < 0, 0, inplace=True)",
		}},
		{"untrimmed names in `" + c + "`", "(%[1]s[\"%[2]s\"] != %[1]s[\"%[2]s\"].str.strip()).sum()", []string{
			"%[1]s[\"%[2]s\"].str.strip()", "%[1]s[\"%[2]s\"].replace(r\"\\s+$\", \"\", regex=True, inplace=True)", "%[1]s[\"%[2]s\"].apply(lambda s: s.strip())", "%[1]s[%[1]s[\"%[2]s\"].str.endswith(\" \")][\"%[2]s\"] = %[1]s[\"%[2]s\"].str.rstrip()",
			"for name in %[1]s[\"%[2]s\"]:\n    name = name.strip()", "%[1]s[\"%[2]s\"].map(str.strip)", "%[1]s[[\"%[2]s\"]].map(lambda s: s.strip() if isinstance(s, str) else s)",
		}},
	}[p.IntN(3)]
	w := wording{
		[]string{"Let me fix the " + f.what + ".", fmt.Sprintf("There are %d %s to handle.", count, f.what)},
		[]string{fmt.Sprintf("Still %d.", count), "The count has not changed.", "Hmm, it did not take effect.", "The values are still there.", "It should be 0 now, but it is not.", ""},
		[]string{"Let me try another way.", "Let me apply it differently.", "I'll use another method of pandas.", "Let me do it explicitly.", "Let me make sure that it is really applied."},
	}
	for k := range p.repeats() {
		cell++
		op, shown := fmt.Sprintf(p.pick(f.ops...), frame, c), fmt.Sprint(count)
		code := op + "\n" + fmt.Sprintf(p.pick("print("+f.check+")", "print(\"left:\", "+f.check+")", f.check, "print(f\"{"+strings.ReplaceAll(f.check, "\"", "'")+"} left\")"), frame, c)
		if strings.Contains(code, "\"left:\"") {
			shown = "left: " + shown
		} else if strings.Contains(code, "} left") {
			shown += " left"
		}
		switch {
		case strings.Contains(op, "inplace"):
			shown = fmt.Sprintf("/tmp/ipykernel_%d/%d.py:1: FutureWarning: A value is trying to be set on a copy of a DataFrame or Series through chained assignment using an inplace method.\nThe behavior will change in pandas 3.0. This inplace method will never work because the intermediate object on which we are setting values always behaves as a copy.\n\n  %s\n", cell/3, p.Uint32(), op) + shown
		case strings.Contains(op, "][\""):
			shown = fmt.Sprintf("/tmp/ipykernel_%d/%d.py:1: SettingWithCopyWarning: \nA value is trying to be set on a copy of a slice from a DataFrame.\nTry using .loc[row_indexer,col_indexer] = value instead\n\nSee the caveats in the documentation: https://pandas.pydata.org/pandas-docs/stable/user_guide/indexing.html\n  %s\n", cell/3, p.Uint32(), op) + shown
		}
		entries = append(entries, run(code, shown).after(w.of(p, k)))
		if k > 1 && p.IntN(6) == 0 {
			values := ""
			for n := range p.between(3, 20) {
				values += fmt.Sprintf("%-8d%v\n", n*p.between(1, 9), p.pick("NaN", "12.5", "-3.0", "0.0", "48.0"))
			}
			entries = append(entries, run(frame+"[\""+c+"\"].head("+fmt.Sprint(p.between(5, 30))+")", values+"Name: "+c+", dtype: float64").after(thought{"", p.pick("Let me look at the values.", "What is in the column?")}))
		}
	}
	return entries, 1
}

// figure is something that an agent looks up: what it is called in queries, and the sentences of pages that state it.
type figure struct {
	queries []string
	pages   [][2]string // addresses and texts
	value   string
}

func (p *generator) figure() figure {
	name := p.pick("Halden", "Orsova", "Tolmin", "Berga", "Kirkwall", "Sintra", "Varde", "Lienz")
	year := p.between(1880, 2016)
	switch p.IntN(3) {
	case 0:
		value := fmt.Sprintf("%d,%03d", p.between(4, 90), p.IntN(1000))
		return figure{[]string{name + " population census 2021", "population of " + name, "how many people live in " + name, name + " inhabitants official statistics", name + " municipality residents 2021", "\"" + name + "\" population " + value, name + " census results"}, [][2]string{
			{"https://en.wikipedia.org/wiki/" + name, name + " is a municipality. At the 2021 census it had a population of " + value + "."}, {"https://www.citypopulation.example/" + strings.ToLower(name), name + "\nCensus 2021-10-31: " + value + "\nArea: 118 km2"}, {"https://stat.example/regions/" + strings.ToLower(name), "Usual residents, " + name + ", census 2021: " + value},
		}, value}
	case 1:
		value := fmt.Sprint(year)
		return figure{[]string{"when was the " + name + " dam completed", name + " dam construction year", name + " dam opened " + value, name + " hydroelectric dam history", "\"" + name + " dam\" completion date", name + " reservoir filled year", name + " dam built in"}, [][2]string{
			{"https://en.wikipedia.org/wiki/" + name + "_Dam", "The " + name + " Dam is a gravity dam. Construction took four years, and it was completed in " + value + "."}, {"https://dams.example/register/" + strings.ToLower(name), "Name: " + name + "\nType: gravity\nCompleted: " + value}, {"https://www.power.example/plants/" + strings.ToLower(name) + "/history", "Since its completion in " + value + " the dam at " + name + " has supplied the valley."},
		}, value}
	}
	value := fmt.Sprintf("%d.%d", p.between(12, 700), p.IntN(10))
	return figure{[]string{name + " Group revenue FY2025", name + " annual report 2025 revenue", "how much revenue did " + name + " Group report for 2025", name + " Group full year results 2025", name + " 2025 net sales million", "\"" + name + " Group\" revenue " + value + " million", name + " Group earnings release"}, [][2]string{
		{"https://www." + strings.ToLower(name) + "-group.example/investors/results-2025", "Full year 2025: revenue of EUR " + value + " million, against guidance of EUR 10 million less."}, {"https://news.example/markets/" + strings.ToLower(name) + "-results", name + " Group on Tuesday reported revenue of EUR " + value + " million for 2025."}, {"https://en.wikipedia.org/wiki/" + name + "_Group", name + " Group\nRevenue: EUR " + value + " million (2025)\nEmployees: 412"},
	}, value}
}

// foundFigureVerifiedAgain has found a figure in three sources that agree, and searches and opens the same sources to verify it.
func foundFigureVerifiedAgain(p *generator) (entries []entry, _ int) {
	f := p.figure()
	search, query, _ := strings.Cut(p.pick("WebSearch:query", "web_search:q", "search:query", "mcp__brave__brave_web_search:query", "tavily_search:query"), ":")
	open, address, _ := strings.Cut(p.pick("WebFetch:url", "open_url:url", "visit:url", "read_page:address", "mcp__fetch__fetch:url"), ":")
	find := func(q string) entry {
		var hits []json.RawMessage
		for _, page := range f.pages {
			hits = append(hits, object("url", page[0], "snippet", page[1]))
		}
		p.Shuffle(len(hits), func(i, j int) { hits[i], hits[j] = hits[j], hits[i] })
		return call(search, object(query, q), object("results", hits[:p.between(2, 3)]))
	}
	rest := map[string]string{}
	for _, page := range f.pages {
		rest[page[0]] = "\n\n" + strings.Repeat(p.page()+"\n", p.between(0, 4))
	}
	visit := func(page [2]string) entry {
		text := strings.TrimRight(page[1]+rest[page[0]], "\n")
		if strings.Contains(open, "mcp") {
			return call(open, object(address, page[0], "max_length", p.pickInt(2000, 5000, 8000)), content("Contents of "+page[0]+":\n"+text))
		}
		return call(open, object(address, page[0]), quoted(text))
	}
	w := wording{
		[]string{"Let me search for it.", "I'll look it up."},
		[]string{"The source says " + f.value + ".", "It is " + f.value + " according to this page.", "This confirms " + f.value + ".", "Again " + f.value + ".", "I have " + f.value + " now.", ""},
		[]string{"Let me verify this with another source.", "I want to be sure, so let me double-check.", "Let me confirm the figure before I answer.", "Let me search for it once more to be certain.", "Let me cross-check this.", "To be thorough, let me look for an official source."},
	}
	entries = append(entries, find(f.queries[0]).after(w.of(p, 0)), visit(f.pages[0]).after(thought{"", "Let me open the first result."}), visit(f.pages[1]).after(w.of(p, 1)))
	for k := range p.repeats() {
		next := find(p.pick(f.queries...))
		if k > 0 && p.coin() {
			next = visit(f.pages[p.IntN(len(f.pages))])
		}
		entries = append(entries, next.after(w.of(p, k+2)))
	}
	return entries, 3
}
