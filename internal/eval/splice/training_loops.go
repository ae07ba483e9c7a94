package splice

import (
	"fmt"
	"slices"
	"strings"
)

// The loops of this file are those of agents that train models on shared machines.

func trainingLoops() []kind {
	return []kind{
		{name: "job_resubmitted", build: jobResubmitted},
		{name: "resumes_at_same_step", build: resumesAtSameStep},
		{name: "config_not_read", build: configNotRead},
		{name: "collective_hangs", build: collectiveHangs},
	}
}

// jobResubmitted submits a job again with other resources; it fails within a minute for a reason that has nothing to do with them.
func jobResubmitted(p *generator) (entries []entry, _ int) {
	run, name, id := p.patientShell(), p.word(), p.between(100_000, 900_000)
	script, line := "jobs/"+name+".slurm", p.between(30, 300)
	cause := p.pick("FileNotFoundError: [Errno 2] No such file or directory: '/scratch/"+name+"/train/shard-00000.tar'", "ModuleNotFoundError: No module named 'flash_attn'", "KeyError: 'input_ids'", "ValueError: invalid literal for int() with base 10: 'auto'", "PermissionError: [Errno 13] Permission denied: '/shared/datasets/"+name+"'")
	words := wording{
		first: []string{"I'll submit the training.", "Let me submit " + script + "."},
		seen:  []string{"It failed again.", "The same traceback.", "FAILED after a few seconds.", "The job died at the same place.", "No luck with this one."},
		next:  []string{"Let me submit it again.", "I'll ask for more memory.", "Maybe another node is better.", "Let me resubmit with a longer limit.", "I'll give it more CPUs.", "Let me try another partition."},
	}
	for round := range p.between(3, 6) {
		id += p.between(3, 900)
		flags := ""
		if round > 0 {
			flags = p.pick("", " --mem=128G", " --mem=256G", " --time=24:00:00", " --partition=a100", " --cpus-per-task=16", " --exclude=gpu0"+fmt.Sprint(p.between(1, 9)))
		}
		seconds := p.between(21, 49)
		var state strings.Builder
		fmt.Fprintf(&state, "JobID           JobName      State ExitCode    Elapsed\n------------ ---------- ---------- -------- ----------\n%-12d %10.10s     FAILED      1:0   00:00:%d\n%d.batch      batch     FAILED      1:0   00:00:%d", id, name, seconds, id, seconds)
		entries = append(entries,
			run("sbatch"+flags+" "+script, fmt.Sprintf("Submitted batch job %d", id), 0).after(words.of(p, round)),
			run(fmt.Sprintf("sleep %d; sacct -j %d --format=JobID,JobName,State,ExitCode,Elapsed", p.pickInt(60, 90, 120), id), state.String(), 0).after(thought{next: p.pick("Is it running?", "Let me look at its state.", "Check the job.")}),
			run(fmt.Sprintf("tail -n 6 logs/slurm-%d.out", id), fmt.Sprintf("  File \"/srv/ml/%s/train.py\", line %d, in <module>\n    main()\n  File \"/srv/ml/%s/train.py\", line %d, in main\n    loader = build_loader(cfg)\n%s", name, line+90, name, line, cause), 0).after(thought{"The job failed.", p.pick("Let me read its log.", "What does the log say?", "The end of the log.")}))
	}
	return entries, 3
}

// resumesAtSameStep resumes a training, which is killed before its next checkpoint, so that the same steps are trained again.
func resumesAtSameStep(p *generator) (entries []entry, _ int) {
	run, name := p.patientShell(), p.word()
	step, loss := 1000*p.between(2, 40), p.between(17_000, 31_000)
	length := 20 * p.between(6, 12)
	var list strings.Builder
	for k := range 3 {
		fmt.Fprintf(&list, "step_%06d\n", step-1000*(2-k))
	}
	words := wording{
		first: []string{"I'll resume the training from the last checkpoint.", "Let me resume the run."},
		seen:  []string{fmt.Sprintf("The last checkpoint is step %d.", step), "It was killed before the next checkpoint.", "No newer checkpoint.", "Killed again.", "The run stopped."},
		next:  []string{"Let me resume it.", "I'll resume from the latest one.", "Starting it again from there.", "Let me continue the training.", "I'll resume with fewer workers."},
	}
	for round := range p.between(3, 6) {
		var log strings.Builder
		fmt.Fprintf(&log, "loading checkpoint runs/%s/step_%06d\nresuming at step %d (epoch 1), save_every=1000\n", name, step, step)
		for k := 20; k <= length; k += 20 {
			at := loss + p.between(-400, 400)
			fmt.Fprintf(&log, "step %d  loss %d.%04d  grad_norm 0.%02d  %d tok/s\n", step+k, at/10_000, at%10_000, p.between(31, 58), p.between(41_200, 42_900))
		}
		fmt.Fprintf(&log, "scripts/train.sh: line 14: %d Killed                  python train.py \"$@\"", p.between(3000, 60_000))
		entries = append(entries,
			run("bash scripts/train.sh --run "+name+" --resume latest"+p.pick("", "", " --num-workers 2", " --num-workers 0", " --log-every 20"), log.String(), 137).after(words.of(p, round)),
			run("ls runs/"+name+"/ | grep step_ | tail -n 3", strings.TrimSuffix(list.String(), "\n"), 0).after(thought{next: p.pick("Which checkpoint is the last?", "Let me see what was saved.", "How far did it get?")}))
	}
	return entries, 2
}

// configNotRead changes settings in a file that the training does not read; the seed is fixed, and so is each result.
func configNotRead(p *generator) (entries []entry, _ int) {
	w, name := p.workbench(), p.word()
	file, epochs := "configs/"+name+".yaml", p.between(3, 8)
	losses, accuracy := make([]int, epochs), make([]int, epochs)
	for k := range losses {
		losses[k], accuracy[k] = 9000-600*k+p.IntN(500), 5000+300*k+p.IntN(250)
	}
	choices := func(key string) []string {
		return map[string][]string{"lr": {"3e-4", "1e-4", "5e-5", "1e-3"}, "dropout": {"0.1", "0.3", "0.2", "0.0"}, "weight_decay": {"0.01", "0.1", "0.001", "0.0"}, "batch_size": {"64", "32", "128", "16"}, "warmup_steps": {"500", "1000", "100", "2000"}}[key]
	}
	values := map[string]string{"lr": "3e-4", "dropout": "0.1", "weight_decay": "0.01", "batch_size": "64", "warmup_steps": "500"}
	words := wording{
		first: []string{"The accuracy is too low. I'll lower the learning rate.", "Let me change the hyperparameters."},
		seen:  []string{fmt.Sprintf("Still 0.%04d.", accuracy[epochs-1]), "The accuracy didn't move.", "The same accuracy.", "No improvement.", "That had no effect."},
		next:  []string{"Let me tune another value.", "I'll try more regularisation.", "Let me go the other way.", "Maybe a different batch size helps.", "Let me change the warmup.", "I'll adjust the config again."},
	}
	for round := range p.between(4, 6) {
		key := p.pick("lr", "lr", "dropout", "weight_decay", "batch_size", "warmup_steps")
		others := slices.DeleteFunc(choices(key), func(value string) bool { return value == values[key] })
		next := others[p.IntN(len(others))]
		var log strings.Builder
		log.WriteString("seed 42 | device cuda:0 | amp bf16\nargs: Namespace(lr=0.0003, dropout=0.1, weight_decay=0.01, batch_size=64, warmup_steps=500)\n")
		for k := range epochs {
			fmt.Fprintf(&log, "epoch %d/%d  train_loss 0.%04d  val_acc 0.%04d  (%d.%ds)\n", k+1, epochs, losses[k], accuracy[k], p.between(38, 44), p.IntN(10))
		}
		fmt.Fprintf(&log, "best val_acc 0.%04d, saved to out/%s/best.pt", accuracy[epochs-1], name)
		entries = append(entries,
			w.replace(file, key+": "+values[key], key+": "+next).after(words.of(p, round)),
			w.shell("python train.py --name "+name+p.pick("", " 2>&1 | tail -n 20"), log.String(), 0).after(thought{next: p.pick("Train with it.", "Now a new run.", "Let me train again.", "Run the training.")}))
		if round > 0 && p.IntN(4) == 0 {
			entries = append(entries, w.shell(fmt.Sprintf("sed -n '%d,+2p' data/%s/val.tsv", p.between(1, 4000), name), fmt.Sprintf("%s\t%d\n%s\t%d\n%s\t%d", p.phrase(4, 9), p.IntN(5), p.phrase(4, 9), p.IntN(5), p.phrase(4, 9), p.IntN(5)), 0).after(thought{next: p.pick("Let me look at a few samples.", "What do the samples look like?")}))
		}
		values[key] = next
	}
	return entries, 2
}

// collectiveHangs starts a training on eight GPUs with other settings of the network; all ranks wait at the same call.
func collectiveHangs(p *generator) (entries []entry, _ int) {
	h, name := harness{p, claudeCode}, p.word()
	settings := p.shuffled("NCCL_P2P_DISABLE=1 ", "NCCL_IB_DISABLE=1 ", "NCCL_SOCKET_IFNAME=eth0 ", "NCCL_SHM_DISABLE=1 ", "OMP_NUM_THREADS=1 ", "CUDA_LAUNCH_BLOCKING=1 ")
	megabytes, clock := p.between(900, 1900), p.passingTime()
	words := wording{
		first: []string{"I'll start the training on all eight GPUs.", "Let me launch the run."},
		seen:  []string{"It hangs again.", "The log doesn't go on.", "The same point.", "No step was trained.", "All ranks are waiting."},
		next:  []string{"Let me launch it with other settings.", "I'll disable one transport.", "Let me start it again.", "Maybe the interface is wrong.", "I'll try another NCCL setting."},
	}
	for round := range p.between(3, 5) {
		id, environment := fmt.Sprintf("%06x", p.IntN(1<<24)), "NCCL_DEBUG=WARN "
		if round > 0 {
			environment += settings[round]
		}
		command := environment + "torchrun --standalone --nproc_per_node=8 train.py --config " + name + ".yaml"
		var usage strings.Builder
		for k := range 8 {
			fmt.Fprintf(&usage, "%d, 100 %%, %d MiB\n", k, megabytes+p.between(0, 2))
		}
		status := fmt.Sprintf("<status>running</status>\n\n<stdout>\nworld_size=8 backend=nccl\nrank 0: dataset loaded (%d samples)\nrank 0: entering first all_reduce\n</stdout>\n\n<timestamp>%s</timestamp>", 51_200+len(name), clock())
		entries = append(entries,
			call("Bash", object("command", command, "description", "Start training on 8 GPUs", "run_in_background", true), quoted("Command running in background with ID: "+id)).after(words.of(p, round)),
			h.shell(fmt.Sprintf("sleep %d && nvidia-smi --query-gpu=index,utilization.gpu,memory.used --format=csv,noheader", p.pickInt(60, 90, 120)), strings.TrimSuffix(usage.String(), "\n"), 0).after(thought{next: p.pick("Let me look at the GPUs.", "Are the GPUs busy?", "Let me give it a minute.")}),
			call("BashOutput", object("bash_id", id), quoted(status)).after(thought{"The GPUs are at 100 %.", p.pick("What does the log say?", "Let me read its output.", "Any steps yet?")}),
			call("KillShell", object("shell_id", id), object("message", "Successfully killed shell: "+id+" ("+command+")", "shell_id", id)).after(thought{next: p.pick("I'll stop it.", "Let me kill it.", "")}))
	}
	return entries, 4
}
