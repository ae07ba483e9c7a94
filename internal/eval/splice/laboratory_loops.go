package splice

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// The loops of this file are those of agents that train models and compute: downloads, clusters with queues, notebooks and runs that stay below their target.

func laboratoryLoops() []kind {
	return []kind{
		{name: "new_script_meets_same_download", build: newScriptMeetsSameDownload},
		{name: "same_settings_trained_again", build: sameSettingsTrainedAgain},
		{name: "variables_lost_at_each_restart", build: variablesLostAtEachRestart},
		{name: "job_cancelled_before_its_turn", build: jobCancelledBeforeItsTurn},
	}
}

// blockedDownload is a file that a network does not let through.
type blockedDownload struct {
	host, path string
	ways       []string // lines of programs that fetch it
	looks      [][2]string
	last       string // the last line of its traceback
}

// blockedDownload returns the download of a model, a data set or a corpus.
func (p *generator) blockedDownload() blockedDownload {
	name := p.word() + "-" + p.pick("small", "base", "large", "v2", "mini")
	nothing := [2]string{"ls ~/.cache", "ls: cannot access '/home/user/.cache': No such file or directory"}
	switch p.IntN(3) {
	case 0:
		id := p.word() + "ai/" + name
		return blockedDownload{
			"huggingface.co", "/" + id + "/resolve/main/config.json",
			[]string{"model = SentenceTransformer(\"" + id + "\")", "model = AutoModel.from_pretrained(\"" + id + "\", revision=\"main\")", "path = snapshot_download(\"" + id + "\")", "model = AutoModel.from_pretrained(\"" + id + "\", force_download=True)", "path = hf_hub_download(\"" + id + "\", \"model.safetensors\")", "model = mteb.get_model(\"" + id + "\")"},
			[][2]string{nothing, {"pip show huggingface_hub transformers | grep Version", "Version: 0.27.0\nVersion: 4.47.1"}, {"env | grep -i proxy", ""}},
			"OSError: We couldn't connect to 'https://huggingface.co' to load the files, and couldn't find them in the cached files.\nCheck your internet connection or see how to run the library in offline mode at 'https://huggingface.co/docs/transformers/installation#offline-mode'.",
		}
	case 1:
		set := p.pick("CIFAR10", "MNIST", "SVHN", "STL10", "Food101")
		host := p.pick("www.cs.toronto.edu", "ossci-datasets.s3.amazonaws.com", "ufldl.stanford.edu")
		return blockedDownload{
			host, "/data/" + strings.ToLower(set) + ".tar.gz",
			[]string{"data = torchvision.datasets." + set + "(\"data\", download=True)", "data = torchvision.datasets." + set + "(root=\"/tmp/data\", download=True)", "urllib.request.urlretrieve(URL, \"data.tar.gz\")", "data = requests.get(URL, timeout=120, verify=False).content", "torch.hub.download_url_to_file(URL, \"data.tar.gz\")"},
			[][2]string{nothing, {"ls -la data", "total 8\ndrwxr-xr-x 2 root root 4096 Jun 11 09:12 .\ndrwxr-xr-x 6 root root 4096 Jun 11 09:12 .."}},
			"urllib.error.URLError: <urlopen error [Errno -3] Temporary failure in name resolution>",
		}
	}
	return blockedDownload{
		"zenodo.org", fmt.Sprintf("/records/%d/files/%s.h5", p.between(1e6, 9e6), name),
		[]string{"path = pooch.retrieve(URL, known_hash=None)", "data = xarray.open_dataset(URL)", "data = requests.get(URL, stream=True)", "urllib.request.urlretrieve(URL, \"data.h5\")", "data = fsspec.open(URL).open()"},
		[][2]string{{"ls *.h5", "ls: cannot access '*.h5': No such file or directory"}, {"df -h . | tail -1", "overlay          98G   31G   63G  33% /"}},
		"requests.exceptions.ConnectionError: HTTPSConnectionPool(host='zenodo.org', port=443): Max retries exceeded (Caused by NameResolutionError)",
	}
}

// traceback returns the output of a script that cannot fetch the file in one of its lines.
func (b blockedDownload) traceback(p *generator, script string, line int, code string) string {
	frames := []string{
		"requests/api.py\", line 73, in get\n    return request(\"get\", url, params=params, **kwargs)", "requests/sessions.py\", line 589, in request\n    resp = self.send(prep, **send_kwargs)", "requests/sessions.py\", line 703, in send\n    r = adapter.send(request, **kwargs)",
		"requests/adapters.py\", line 700, in send\n    raise ConnectionError(e, request=request)", "urllib3/connectionpool.py\", line 787, in urlopen\n    response = self._make_request(", "urllib3/connectionpool.py\", line 488, in _make_request\n    raise new_e",
		"urllib3/connection.py\", line 704, in connect\n    self.sock = sock = self._new_conn()", "urllib3/connection.py\", line 205, in _new_conn\n    raise NameResolutionError(self.host, self, e) from e", "urllib3/util/retry.py\", line 519, in increment\n    raise MaxRetryError(_pool, url, reason) from reason",
	}
	text := fmt.Sprintf("Traceback (most recent call last):\n  File \"/app/%s\", line %d, in <module>\n    %s\n", script, line, code)
	for _, frame := range frames[p.IntN(len(frames)):] {
		text += "  File \"/usr/local/lib/python3.11/site-packages/" + frame + "\n"
	}
	if p.coin() {
		text = fmt.Sprintf("urllib3.exceptions.NameResolutionError: <urllib3.connection.HTTPSConnection object at 0x7f%010x>: Failed to resolve '%s' ([Errno -3] Temporary failure in name resolution)\n\nDuring handling of the above exception, another exception occurred:\n\n", p.Int64N(1<<40), b.host) + text
	}
	return text + b.last
}

// newScriptMeetsSameDownload writes a new script for each attempt; each script fetches the same file, and no network lets it through.
func newScriptMeetsSameDownload(p *generator) (entries []entry, _ int) {
	h, b, task := p.harness(), p.blockedDownload(), p.pick("evaluate", "train", "run", "embed", "load")
	w := wording{
		[]string{"I'll write a script for it.", "Let me create the script and run it."},
		[]string{"The download fails.", "We still cannot reach the server.", "It is the same problem with the download.", "The script could not load it.", ""},
		[]string{"Let me write a simpler script.", "Let me try a different approach to loading it.", "I'll create a new version with error handling.", "Let me write a debug script.", "Let me use another function to fetch it."},
	}
	rest := []string{"print(\"loaded\")", "results = " + task + "()", "print(results)", "for name in results:\n    print(name, results[name])", "json.dump(results, open(\"results.json\", \"w\"))", "print(\"done\")"}
	for k := range p.repeats() {
		script := task + "_" + p.pick("v"+fmt.Sprint(k+1), "simple", "debug", "fixed", "alt", "final", "direct", fmt.Sprint(k+1)) + ".py"
		lines := append([]string{"import json"}, p.shuffled("import os", "import sys", "import time", "import logging", "import requests", "import torch")[:p.between(1, 5)]...)
		lines = append(lines, "", "URL = \"https://"+b.host+b.path+"\"", p.pick("", "os.environ[\"NO_PROXY\"] = \"*\"", "logging.basicConfig(level=logging.DEBUG)", "print(\"fetching\")"), p.pick(b.ways...))
		text := strings.Join(append(slices.Clone(lines), rest[:p.between(1, len(rest))]...), "\n") + "\n"
		entries = append(entries, h.create("/app/"+script, text).after(w.of(p, k)), h.shell(p.pick("python ", "python3 ", "cd /app && python ")+script, b.traceback(p, script, len(lines), lines[len(lines)-1]), 1).after(p.runAgain()))
		if k > 0 && p.IntN(4) == 0 {
			look := b.looks[p.IntN(len(b.looks))]
			entries = append(entries, h.shell(look[0], look[1], 0).after(thought{"", "Let me check what is there."}))
		}
	}
	return entries, 2
}

// sameSettingsTrainedAgain trains with three settings, and none reaches the target; then it trains with them again.
func sameSettingsTrainedAgain(p *generator) (entries []entry, _ int) {
	run, score, epochs := p.patientShell(), 0.60+0.3*p.Float64(), p.between(3, 30)
	metric := p.pick("val_acc", "macro_f1", "auroc", "mAP50", "dice")
	program := p.pick("python train.py", "torchrun --nproc_per_node=2 train.py", "python -m "+p.word()+".train", "accelerate launch train.py")
	settings := [][]string{
		{"--lr 1e-4", "--lr 3e-4", "--lr 1e-3"},
		{"--dropout 0.1", "--dropout 0.3", "--dropout 0.5"},
		{"--batch-size 32", "--batch-size 64", "--batch-size 128"},
		{"--scheduler cosine", "--scheduler linear", "--scheduler plateau"},
		{"--augment light", "--augment heavy", "--augment none"},
		{"--hidden 128", "--hidden 256", "--hidden 512"},
	}[p.IntN(6)]
	settings = p.shuffled(settings...)
	scores := [3]float64{score, score - 0.002*p.Float64(), score - 0.004*p.Float64()}
	w := wording{
		[]string{"Let me train with `%s`.", "First, `%s`."},
		[]string{"Still below the target.", "Close, but not there.", "That does not reach it.", "Not enough.", "It is short of the target by a bit.", ""},
		[]string{"Let me train with `%s`.", "Maybe `%s` does better.", "Let me try `%s`.", "Now `%s`.", "I'll go for `%s`."},
	}
	for k := range 3 + p.laps() {
		n := k
		if k >= 3 {
			n = p.IntN(3)
		}
		t, reached, text := w.of(p, k), scores[n]+0.0015*(p.Float64()-0.5), ""
		t.next = fmt.Sprintf(t.next, settings[n])
		for e := range epochs {
			text += fmt.Sprintf("epoch %d/%d  loss %.4f  %s %.4f  (%.1fs)\n", e+1, epochs, 1.4/float64(e+1)+0.2+0.01*p.Float64(), metric, reached*(1-0.3/float64(e+2)), 8+p.Float64())
		}
		text += fmt.Sprintf("best %s %.4f (target %.2f)", metric, reached, score+0.05)
		entries = append(entries, run(fmt.Sprintf("%s %s --epochs %d", program, settings[n], epochs)+p.pick("", "", " --name "+p.word()), text, 0).after(t))
	}
	return entries, 3
}

// restartable returns how an agent runs a cell, and how it starts the kernel anew.
func (p *generator) restartable() (cell func(code, output string, fails bool) entry, restart func() entry) {
	server, count := p.pick("mcp__jupyter__", "jupyter-", ""), 0
	answer := func(text string) json.RawMessage {
		if server == "" {
			return object("execution_count", count, "output", text, "elapsed_s", float64(p.between(1, 900))/10)
		}
		return content(text)
	}
	cell = func(code, output string, fails bool) entry {
		count++
		if fails && server == "" {
			return failed("execute_cell", object("code", code), output)
		}
		return call(server+"execute_cell", object("code", code), answer(output))
	}
	restart = func() entry {
		count = 0
		return call(server+"restart_kernel", object("kernel_id", "python3"), answer("Kernel restarted. Memory has been cleared."))
	}
	return cell, restart
}

// variablesLostAtEachRestart starts the kernel anew for its memory, loads the data that it lost, and runs out of memory at the same cell.
func variablesLostAtEachRestart(p *generator) (entries []entry, _ int) {
	cell, restart := p.restartable()
	frame, key, seconds := p.pick("df", "events", "adata", "ds", "merged"), p.word(), p.between(2, 30)
	load := frame + " = " + p.pick("pd.read_parquet", "pd.read_csv", "sc.read_h5ad", "xr.open_dataset") + "(\"data/" + key + ".dat\")\nprint(" + frame + ".shape)"
	steps := []string{"wide = " + frame + ".pivot(index=\"" + key + "\", columns=\"day\", values=\"value\")", "dense = " + frame + ".to_numpy().astype(float)", "pairs = " + frame + ".merge(" + frame + ", on=\"" + key + "\")", "corr = np.corrcoef(" + frame + ".values)"}
	step := p.pick(steps...)
	rows, wide := p.between(1e6, 9e7), p.between(2000, 9000)
	shape, gib := fmt.Sprintf("(%d, %d)", rows, p.between(4, 60)), float64(rows)*float64(wide)*8/(1<<30)
	trace := func(number int, last string) string {
		return fmt.Sprintf("---------------------------------------------------------------------------\n%s                                 Traceback (most recent call last)\nCell In[%d], line %d\n----> %d %s\n\n%s", strings.SplitN(last, ":", 2)[0], number, 1, 1, step, last)
	}
	dies := p.coin()
	for k := range p.laps() {
		code := step
		if k > 0 {
			code += p.pick("", "", "\nprint(\"done\")", "\ngc.collect()")
		}
		entries = append(entries,
			restart().after(thought{p.pick("", "The kernel is out of memory.", "Memory is full again."), p.pick("Let me restart the kernel to free the memory.", "I'll restart the kernel.", "A fresh kernel should have enough memory.")}),
			cell(code, trace(1, "NameError: name '"+frame+"' is not defined"), true).after(thought{"", p.pick("Now run the cell again.", "Let me run the computation.", "With a clean kernel this should work.")}),
			cell(load, shape, false).after(thought{"The data is gone after the restart.", p.pick("Let me load it again.", "I need to reload it.")}))
		out := trace(3, fmt.Sprintf("numpy.core._exceptions._ArrayMemoryError: Unable to allocate %.1f GiB for an array with shape (%d, %d) and data type float64", gib, rows, wide))
		if dies {
			out = fmt.Sprintf("DeadKernelError: Kernel died while executing the cell (exit code -9, %d s)", seconds+p.IntN(20))
		}
		entries = append(entries, cell(code, out, true).after(thought{"", p.pick("Now the computation.", "Run it again.", "And the cell once more.")}))
	}
	return entries, 4
}

// jobCancelledBeforeItsTurn submits a job, sees it wait in the queue, cancels it and submits it with another request, behind all others again.
func jobCancelledBeforeItsTurn(p *generator) (entries []entry, _ int) {
	run, id, name := p.patientShell(), p.between(100_000, 9_000_000), p.word()
	pbs, hours, user := p.IntN(3) == 0, p.between(3, 30), p.word()
	partition := p.pick("gpu", "a100", "batch", "short", "compute")
	waits := p.between(40, 400)
	requests := []string{"--time=01:00:00", "--time=04:00:00", "--mem=32G", "--mem=64G", "--gres=gpu:1", "--cpus-per-task=4", "--cpus-per-task=16", "--nodes=1", "--qos=normal", "--nice=0"}
	if pbs {
		requests = []string{"ncpus=4", "ncpus=16", "mem=32gb", "mem=64gb", "ngpus=1", "ncpus=8:mem=16gb"}
	}
	clock, request := p.passingTime(), ""
	w := wording{
		[]string{"Let me submit the job.", "I'll submit it to the cluster."},
		[]string{"It would have waited for hours.", "That was not going to start soon.", "The queue is long.", "Cancelled.", ""},
		[]string{"Let me submit it with a smaller request.", "Perhaps other limits let it start earlier.", "I'll try another request.", "Let me resubmit it.", "A shorter job may be backfilled."},
	}
	for k := range p.laps() {
		id += p.between(1, 300)
		waits += p.between(0, 12)
		job, last := fmt.Sprint(id), request
		for request == last {
			request = p.pick(requests...)
		}
		submit, submitted, look, cancel := "sbatch "+request+" "+name+".sbatch", "Submitted batch job "+job, "squeue --start -j "+job, "scancel "+job
		state := fmt.Sprintf("             JOBID PARTITION     NAME     USER ST          START_TIME  NODES SCHEDNODES           NODELIST(REASON)\n%18s %9s %8s %8s PD %s      1 (null)               (Priority)", job, partition, name, user, "2026-06-29T"+clock()[11:19])
		if pbs {
			submit, submitted, look, cancel = "qsub -l select=1:"+request+" "+name+".pbs", job+".pbs01", "qstat -T "+job, "qdel "+job
			state = fmt.Sprintf("Job ID          Username Queue    Jobname    S  Est Start\n%s.pbs01   %s   %s    %s   Q   +%d:%02d", job, user, partition, name, hours+p.IntN(2), p.IntN(60))
		}
		entries = append(entries, run(submit, submitted, 0).after(w.of(p, k)), run(look, state, 0).after(thought{"", p.pick("When will it start?", "Let me see the queue.", "Is it running?")}))
		if k > 0 && p.IntN(3) == 0 {
			count := "squeue -p " + partition + " -t PD | wc -l"
			if pbs {
				count = "qstat -i " + partition + " | wc -l"
			}
			entries = append(entries, run(count, fmt.Sprint(waits), 0).after(thought{"", "How many jobs are waiting?"}))
		}
		entries = append(entries, run(cancel, "", 0).after(thought{p.pick("It is pending.", "It waits for its priority.", "It has not started."), p.pick("I cancel it and change the request.", "Let me cancel it.", "I'll cancel it and try again.")}))
	}
	return entries, 3
}
