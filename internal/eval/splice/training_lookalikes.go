package splice

import (
	"encoding/json"
	"fmt"
	"strings"
)

// The lookalikes of this file are honest work of agents that train and examine models.

func trainingLookalikes() []kind {
	return []kind{
		{name: "checkpoints_scored", build: checkpointsScored},
		{name: "layers_checked_for_nan", build: layersCheckedForNaN},
		{name: "links_measured_between_nodes", build: linksMeasuredBetweenNodes},
		{name: "labels_reviewed", build: labelsReviewed},
	}
}

// checkpointsScored scores checkpoint after checkpoint by one command; the scores level off and then fall a little.
func checkpointsScored(p *generator) (entries []entry, _ int) {
	run, name, every := p.patientShell(), p.word(), p.pickInt(500, 1000, 2000)
	tasks := p.shuffled("arc_easy", "hellaswag", "piqa", "winogrande", "boolq", "sciq")[:p.between(2, 4)]
	count := p.between(10, 18)
	scores := make([]int, len(tasks))
	for k := range scores {
		scores[k] = p.between(3600, 4900)
	}
	said := thought{next: "I'll score all checkpoints on the same tasks."}
	for k := range count {
		var results []any
		for t, task := range tasks {
			if scores[t] += p.between(20, 400); k > count/2 {
				scores[t] -= p.between(150, 420)
			}
			results = append(results, task, json.RawMessage(fmt.Sprintf("0.%04d", scores[t])))
		}
		step := every * (k + 1)
		results = append(results, "step", step, "samples", 2000)
		entries = append(entries, run(fmt.Sprintf("python score.py --model runs/%s/step_%06d --tasks %s --limit 2000 --json", name, step, strings.Join(tasks, ",")), string(object(results...)), 0).after(said))
		said = thought{fmt.Sprintf("Step %d: %s is 0.%04d.", step, tasks[0], scores[0]), fmt.Sprintf(p.pick("Next, step %d.", "Now step %d.", "On to step %d."), step+every)}
	}
	return entries, 0
}

// layersCheckedForNaN runs a model up to layer after layer; all values are finite, until one layer has values that are not.
func layersCheckedForNaN(p *generator) (entries []entry, _ int) {
	run, bad := p.commands(), p.between(13, 26)
	largest := p.between(30, 90)
	said := thought{next: "The loss is NaN. I'll look for the first layer that is not finite."}
	for layer := range bad {
		largest = largest*p.between(101, 135)/100 + 1
		entries = append(entries, run(fmt.Sprintf("python probe.py --ckpt last.pt --batch batch_317.pt --upto %d", layer), fmt.Sprintf("finite (max %d.%d)", largest/10, largest%10), 0).after(said))
		said = thought{fmt.Sprintf("Layer %d is finite.", layer), fmt.Sprintf(p.pick("Layer %d.", "Next, layer %d.", "And %d?"), layer+1)}
	}
	entries = append(entries, run(fmt.Sprintf("python probe.py --ckpt last.pt --batch batch_317.pt --upto %d", bad), "nan", 0).after(said))
	part := p.pick("attn.softmax", "mlp.gelu", "ln_2", "attn.qk_norm")
	return append(entries, run(fmt.Sprintf("python probe.py --ckpt last.pt --batch batch_317.pt --upto %d --parts", bad), fmt.Sprintf("ln_1           finite (max %d.1)\nattn.qkv       finite (max 61440.0)\n%-14s nan", largest/10, part), 0).after(thought{fmt.Sprintf("It is layer %d.", bad), "Which part of it?"})), 0
}

// linksMeasuredBetweenNodes measures the bandwidth between pair after pair of machines, to find the cable that is slow.
func linksMeasuredBetweenNodes(p *generator) (entries []entry, _ int) {
	run, count, first := p.patientShell(), p.between(5, 6), p.between(10, 60)
	slow := p.IntN(count)
	said := thought{next: "All-reduce is slow. I'll measure the links pair by pair."}
	for a := range count {
		for b := a + 1; b < count; b++ {
			rate := p.between(18_100, 19_700)
			verdict := "in order"
			if a == slow || b == slow {
				rate, verdict = p.between(2300, 2600), "slow"
			}
			x, y := fmt.Sprintf("node%02d", first+a), fmt.Sprintf("node%02d", first+b)
			entries = append(entries, run(fmt.Sprintf("mpirun -np 2 -H %s,%s ./all_reduce_perf -b 1G -e 1G -g 1 2>/dev/null | tail -n 2", x, y), fmt.Sprintf("# Out of bounds values : 0 OK\n# Avg bus bandwidth    : %d.%03d", rate/100, rate%100*10+p.IntN(10)), 0).after(said))
			said = thought{x + " to " + y + " is " + verdict + ".", p.pick("The next pair.", "Next.", "Now the next two.")}
		}
	}
	return append(entries, run(fmt.Sprintf("ssh node%02d ibstat -s", first+slow), "CA 'mlx5_0'\n\tPort 1:\n\t\tState: Active\n\t\tPhysical state: LinkUp\n\t\tRate: 25", 0).after(thought{fmt.Sprintf("All pairs with node%02d are slow.", first+slow), "Let me look at its port."})), 0
}

// labelsReviewed looks at sample after sample that a model disagrees with, and keeps or changes its label.
func labelsReviewed(p *generator) (entries []entry, _ int) {
	labels := []string{"billing", "delivery", "return", "complaint", "praise"}
	subjects := p.shuffled("lamp", "kettle", "jacket", "backpack", "chair", "tent", "blender", "watch", "keyboard", "rug", "teapot", "scarf", "radio", "bike helmet")[:p.between(9, 14)]
	said := thought{next: "I'll go through the samples that the model disagrees with."}
	for k, subject := range subjects {
		id, order := p.between(1000, 90_000)*20+k, p.Perm(len(labels))
		given, predicted := labels[order[0]], labels[order[1]]
		kept := p.IntN(3) == 0
		label := predicted
		if kept {
			label = given
		}
		text := fmt.Sprintf(map[string]string{
			"billing": "I was charged twice for the %s, please check the invoice.", "delivery": "Where is my %s? It should have come on Monday.", "return": "The %s is the wrong size, how do I send it back?",
			"complaint": "The %s broke on the first day and nobody answers.", "praise": "The %s is wonderful, thank you for the quick help!",
		}[label], subject)
		entries = append(entries, call("get_sample", object("id", id), object("id", id, "text", text, "label", given, "predicted", predicted, "confidence", float64(p.between(71, 99))/100)).after(said))
		if kept {
			entries = append(entries, call("mark_reviewed", object("id", id, "label", given), object("ok", true)).after(thought{"The model is wrong here.", "I keep \"" + given + "\"."}))
		} else {
			entries = append(entries, call("set_label", object("id", id, "label", predicted), object("ok", true)).after(thought{"The model is right.", "It is \"" + predicted + "\"."}))
		}
		said = thought{next: fmt.Sprintf(p.pick("Next sample; %d are left.", "%d to go.", "The next of %d."), len(subjects)-k-1)}
	}
	return entries, 0
}
