package splice

import (
	"fmt"
	"slices"
	"strings"
)

// The lookalikes of this file are the honest work of agents that compute: notebooks that run further, fits, chains and arrays of jobs.

func laboratoryLookalikes() []kind {
	return []kind{
		{name: "notebook_executes_further", build: notebookExecutesFurther},
		{name: "samples_fitted_one_by_one", build: samplesFittedOneByOne},
		{name: "chains_run_longer_until_rhat_falls", build: chainsRunLongerUntilRhatFalls},
		{name: "missing_array_tasks_resubmitted", build: missingArrayTasksResubmitted},
	}
}

// notebookExecutesFurther executes a notebook by one command; each time a later cell fails for a reason of its own and is mended, up to the last.
func notebookExecutesFurther(p *generator) (entries []entry, _ int) {
	h, name, count := p.harness(), p.word()+"_"+p.word()+".ipynb", p.between(8, 12)
	tool := [][3]string{
		{"jupyter nbconvert --to notebook --execute --inplace " + name, "[NbConvertApp] Converting notebook " + name + " to notebook\nnbclient.exceptions.CellExecutionError: An error occurred while executing the following cell:", "[NbConvertApp] Converting notebook " + name + " to notebook\n[NbConvertApp] Writing " + fmt.Sprint(p.between(20_000, 900_000)) + " bytes to " + name},
		{"papermill " + name + " out.ipynb", "Input Notebook:  " + name + "\nOutput Notebook: out.ipynb\npapermill.exceptions.PapermillExecutionError:", "Input Notebook:  " + name + "\nOutput Notebook: out.ipynb\nExecuting: 100%|██████████| 41/41 [00:52<00:00,  1.27s/cell]"},
		{"pytest --nbmake " + name, "collected 1 item\n\n" + name + " F\n\nNotebook execution failed", "collected 1 item\n\n" + name + " .\n\n1 passed in 48.20s"},
	}[p.IntN(3)]
	w := wording{
		[]string{"Let me execute the notebook as it is.", "First run, to see which cell fails."},
		[]string{"That cell passes now.", "It gets further.", "One cell more.", "Another call that the new version does not have.", ""},
		[]string{"Let me execute it again.", "Run it again.", "What fails next?", "Once more from the top."},
	}
	number := 1
	for k := range p.between(5, 9) {
		number += p.between(1, 4)
		a, b, c := p.word(), p.word(), p.word()
		fault := [][3]string{
			{a + " = np.float(" + b + ")", "AttributeError: module 'numpy' has no attribute 'float'.", a + " = float(" + b + ")"},
			{a + " = " + b + ".append(" + c + ")", "AttributeError: 'DataFrame' object has no attribute 'append'", a + " = pd.concat([" + b + ", " + c + "])"},
			{"from sklearn.externals import joblib", "ModuleNotFoundError: No module named 'sklearn.externals'", "import joblib"},
			{b + " = pd.read_csv(\"" + a + ".csv\")", "FileNotFoundError: [Errno 2] No such file or directory: '" + a + ".csv'", b + " = pd.read_csv(\"data/" + a + ".csv\")"},
			{"plt.style.use(\"seaborn-" + p.pick("paper", "talk", "whitegrid") + "\")", "OSError: 'seaborn' is not a valid package style, path of style file, URL of style file, or library style name", "sns.set_theme()"},
			{a + " = " + b + ".groupby(\"" + c + "\").mean()", "TypeError: agg function failed [how->mean,dtype->object]", a + " = " + b + ".groupby(\"" + c + "\").mean(numeric_only=True)"},
			{a + " = " + b + "[\"" + c + "\"].iteritems()", "AttributeError: 'Series' object has no attribute 'iteritems'", a + " = " + b + "[\"" + c + "\"].items()"},
			{"cm = plt.cm.get_cmap(\"" + p.pick("viridis", "magma", "jet") + "\")", "AttributeError: module 'matplotlib.cm' has no attribute 'get_cmap'", "cm = plt.colormaps[\"magma\"]"},
		}[(k+count)%8]
		line, text := p.between(0, 20), ""
		for range line {
			x, y := p.word(), p.word()
			text += p.pick("print("+x+".shape)", x+" = "+y+"[\""+p.word()+"\"].dropna()", "ax.plot("+x+", "+y+")", "# "+p.phrase(3, 8), x+" = "+y+".merge("+p.word()+", on=\"id\")", x+".head()", "fig, ax = plt.subplots()", "ax.set_title(\""+capitalized(x)+"\")") + "\n"
		}
		output := fmt.Sprintf("%s\n------------------\n%s%s\n------------------\nCell In[%d], line %d\n----> %d %s\n\n%s", tool[1], text, fault[0], number, line+1, line+1, fault[0], fault[1])
		entries = append(entries, h.shell(tool[0], output, 1).after(w.of(p, k)), h.replace(name, fault[0], fault[2]).after(thought{p.pick("", "That call is gone in the new version.", fmt.Sprintf("Cell %d fails.", number)), p.pick("Let me fix the cell.", "I'll mend this cell.", "")}))
	}
	return append(entries, h.shell(tool[0], tool[2], 0).after(thought{"", p.pick("Run it again.", "And once more.")})), 0
}

// samplesFittedOneByOne fits one model to one sample after the other; the results differ in their numbers alone.
func samplesFittedOneByOne(p *generator) (entries []entry, _ int) {
	python, run, form := p.interpreter(), p.operator(), p.IntN(3)
	prefix, parameters := p.pick("S", "HD", "run", "star_", "patient_", "core-"), p.distinctWords(p.between(2, 5))
	shell, first := p.coin(), p.between(100, 900)
	model := p.pick("voigt", "gauss2", "powerlaw", "logistic", "michaelis", "lorentz")
	w := wording{
		[]string{"I'll fit the samples one by one and look at each.", "Let me start with the first sample."},
		[]string{"A good fit.", "The residuals look fine.", "It converged.", "Similar to the one before.", "Plausible values.", ""},
		[]string{"Next sample.", "Now the next one.", "On to the next.", "The following sample."},
	}
	for k := range p.between(7, 16) {
		sample, text := fmt.Sprintf("%s%d", prefix, first+k), ""
		for _, name := range parameters {
			text += fmt.Sprintf("    %-10s %.5f +/- %.5f (init = 1)\n", name+":", 1+0.2*p.Float64(), 0.01*p.Float64())
		}
		chi := 0.9 + 0.3*p.Float64()
		switch form {
		case 0:
			text = fmt.Sprintf("[[Model]]\n    Model(%s)\n[[Fit Statistics]]\n    # fitting method   = leastsq\n    # function evals   = %d\n    # data points      = %d\n    reduced chi-square = %.5f\n[[Variables]]\n%s", model, p.between(20, 200), p.between(200, 4000), chi, text)
		case 1:
			text = fmt.Sprintf("%s converged after %d iterations, reduced chi2 %.4f\n%s", sample, p.between(6, 60), chi, text)
		default:
			text = fmt.Sprintf("%s: ok, chi2=%.4f", sample, chi)
		}
		e := python("r = fit(\""+model+"\", load(\""+sample+"\"))\nprint(r.report())", strings.TrimSpace(text))
		if shell {
			e = run(fmt.Sprintf("python fit.py --model %s data/%s.fits", model, sample), strings.TrimSpace(text), 0)
		}
		entries = append(entries, e.after(w.of(p, k)))
	}
	return entries, 0
}

// chainsRunLongerUntilRhatFalls runs a sampler with more draws each time; the diagnostics get better step by step until they are good.
func chainsRunLongerUntilRhatFalls(p *generator) (entries []entry, _ int) {
	run, names := p.patientShell(), p.distinctWords(p.between(2, 8))
	program, draws := p.pick("python sample.py", "Rscript fit.R", "julia --project sample.jl", "./model sample"), 500
	rhat, size := 1.4+0.5*p.Float64(), float64(p.between(20, 60))
	short := p.coin()
	w := wording{
		[]string{"Let me run a short chain first.", "First a run with few draws."},
		[]string{"R-hat came down, but it is still too high.", "Better. The effective sample size grows.", "The chains mix better with more draws.", "Closer.", ""},
		[]string{"Let me double the draws.", "I'll run it longer.", "More draws.", "Let me continue with a longer run."},
	}
	for k := 0; ; k++ {
		text := ""
		if !short {
			for chain := range 4 {
				text += fmt.Sprintf("Chain %d: Iteration: %d / %d [100%%]  (Sampling)  Elapsed %.1f s\n", chain+1, 2*draws, 2*draws, float64(draws)*(0.02+0.004*p.Float64()))
			}
		}
		text += "            mean     sd  r_hat  ess_bulk\n"
		for n, name := range names {
			text += fmt.Sprintf("%-10s %6.3f  %5.3f   %.2f    %6.0f\n", name, float64(n)+0.05*p.Float64(), 0.2+0.02*p.Float64(), 1+(rhat-1)*(0.7+0.3*p.Float64()), size*(1+0.2*p.Float64()))
		}
		if rhat < 1.012 {
			text += "All chains have converged."
		} else {
			text += fmt.Sprintf("WARNING: max r_hat %.3f > 1.01. The chains have not mixed.", rhat)
		}
		entries = append(entries, run(fmt.Sprintf("%s --draws %d", program, draws), text, 0).after(w.of(p, k)))
		if rhat < 1.012 {
			return entries, 0
		}
		rhat, size, draws = 1+(rhat-1)*(0.4+0.2*p.Float64()), size*2.1, 2*draws
	}
}

// missingArrayTasksResubmitted lists the tasks of a job array that did not finish, submits them with more memory, and lists them again; they get fewer.
func missingArrayTasksResubmitted(p *generator) (entries []entry, _ int) {
	run, name, job, memory := p.patientShell(), p.word(), p.between(100_000, 900_000), 8
	numbers := p.Perm(200)[:p.between(9, 40)]
	slices.Sort(numbers)
	tasks := make([]string, len(numbers))
	for k, number := range numbers {
		tasks[k] = fmt.Sprint(number)
	}
	find := "comm -23 <(seq 0 199 | sort) <(ls out | sed 's/[^0-9]//g' | sort) | sort -n | paste -sd,"
	if p.coin() {
		find = "python missing.py --out out/ --tasks 200"
	}
	w := wording{
		[]string{"Which tasks of the array did not finish?", "Let me list the tasks without output."},
		[]string{"Fewer are missing now.", "Most of them went through.", "The list gets shorter.", ""},
		[]string{"What is left?", "Let me list the missing ones again.", "Let me see which are still missing."},
	}
	for k := 0; len(tasks) > 0; k++ {
		job += p.between(40, 4000)
		list, left := strings.Join(tasks, ","), tasks[:0:0]
		for n, task := range tasks {
			if n > 0 && p.coin() {
				left = append(left, task)
			}
		}
		entries = append(entries, run(find, list, 0).after(w.of(p, k)),
			run(fmt.Sprintf("sbatch --wait --array=%s --mem=%dG %s.sbatch", list, memory, name), fmt.Sprintf("Submitted batch job %d", job), 0).after(thought{p.pick("", "These ran out of memory."), p.pick("I submit them with more memory.", fmt.Sprintf("Let me give them %d GB.", memory), "")}),
			run(fmt.Sprintf("sacct -j %d -X -n -o State | sort | uniq -c", job), tally(len(tasks), len(left)), 0).after(thought{"", p.pick("How did they end?", "Let me see their states.", "")}))
		memory += p.pickInt(4, 8, 16)
		tasks = left
	}
	return append(entries, run(find, "", 0).after(thought{p.pick("", "All went through this time."), "Is anything missing?"})), 0
}

// tally returns the states of n tasks, of which some ran out of memory.
func tally(n, lost int) string {
	text := fmt.Sprintf("%7d COMPLETED", n-lost)
	if lost > 0 {
		text += fmt.Sprintf("\n%7d OUT_OF_ME+", lost)
	}
	return text
}
