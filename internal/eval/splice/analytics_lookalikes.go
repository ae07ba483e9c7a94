package splice

import (
	"fmt"
	"math"
	"strings"
)

// The lookalikes of this file are honest work of agents that analyse data: figures that converge, rules that match more rows, parts of a table.

func analyticsLookalikes() []kind {
	return []kind{
		{name: "mesh_refined", build: meshRefined},
		{name: "unmatched_rows_fall", build: unmatchedRowsFall},
		{name: "wide_table_shown_in_parts", build: wideTableShownInParts},
		{name: "features_ablated", build: featuresAblated},
	}
}

// meshRefined solves one problem on finer and finer meshes; the result changes by less each time, until it is good enough.
func meshRefined(p *generator) (entries []entry, _ int) {
	run, cells, limit := p.commands(), 16, 0.2+p.Float64()
	off, order, before := 0.05+p.Float64()/10, p.pickInt(1, 2), 0.0
	quantity := p.pick("drag coefficient", "mean temperature", "peak stress", "lift coefficient")
	for k := range p.between(5, 7) {
		value, said := limit+off, thought{next: "I'll start with a coarse mesh."}
		switch {
		case k == 1:
			said = thought{fmt.Sprintf("The %s is %.5f on the coarse mesh.", quantity, before), "Does it change on a finer one?"}
		case k > 1:
			said = thought{fmt.Sprintf("It is %.5f now, so the change gets smaller.", before), p.pick("Double the cells once more.", "Let me refine further.", "One more refinement.")}
		}
		iterations := 40 + 23*k + p.IntN(9)
		output := fmt.Sprintf("reading case.yaml\nmesh: %d x %d cells, %d unknowns\nassembling ... done\nlinear solver: cg, preconditioner: amg\n  iteration %4d  residual %d.%02de-%02d\n  iteration %4d  residual %d.%02de-11\nconverged\n%s: %.6f\nwall time %d.%02d s", cells, cells, cells*cells, iterations/2, p.between(1, 9), p.IntN(100), p.between(4, 6), iterations, p.between(1, 9), p.IntN(100), quantity, value, k*k, p.IntN(100))
		entries = append(entries, run(fmt.Sprintf("./solve case.yaml --cells %d", cells), output, 0).after(said))
		before, cells, off = value, 2*cells, off/math.Pow(2, float64(order))
	}
	return entries, 0
}

// unmatchedRowsFall matches two tables by keys; rule after rule makes more of them match.
func unmatchedRowsFall(p *generator) (entries []entry, _ int) {
	run, total := p.notebook(), p.between(900, 9000)
	left := total * p.between(20, 40) / 100
	rules := [][2]string{
		{"key = key.str.strip()", "Some keys have spaces at their ends."},
		{"key = key.str.upper()", "The case differs."},
		{"key = key.str.replace('-', '', regex=False)", "One side writes hyphens."},
		{"key = key.str.replace(r'^0+', '', regex=True)", "There are leading zeros."},
		{"key = key.str.normalize('NFKC')", "A few have wide characters."},
		{"key = key.str.replace(r'/\\d$', '', regex=True)", "Some end with a part number."},
	}
	p.Shuffle(len(rules), func(i, j int) { rules[i], rules[j] = rules[j], rules[i] })
	code, said := "key = orders['ref'].astype(str)", thought{next: "How many orders have a payment?"}
	for k := range p.between(4, 6) {
		var examples strings.Builder
		for range 3 {
			fmt.Fprintf(&examples, "%-6d %s%07d\n", p.between(10, 9000), p.pick(" ", "0", "ab-", "AB", "Ａ"), p.IntN(1e7))
		}
		cell := code + "\nmerged = orders.assign(key=key).merge(payments, on='key', how='left', indicator=True)\nleft = merged[merged['_merge'] == 'left_only']\nprint(len(merged), len(left))\nprint(left[['ref']].head(3).to_string(header=False))"
		entries = append(entries, run(cell, fmt.Sprintf("%d %d\n%s", total, left, examples.String())).after(said))
		if k < len(rules) {
			said = thought{fmt.Sprintf("%d of %d are left without a payment. ", left, total) + rules[k][1], p.pick("Let me normalise that.", "I'll add a rule for it.", "That is easy to handle.")}
			code += "\n" + rules[k][0]
		}
		left = left * p.between(20, 65) / 100
	}
	return entries, 0
}

// wideTableShownInParts prints a table part by part, since the tool shows forty rows at most.
func wideTableShownInParts(p *generator) (entries []entry, _ int) {
	cell, state, step, rows := p.notebook(), p.pick("open", "paid", "late"), p.pickInt(8, 10, 12), p.between(60, 120)
	for at := 0; at < rows && len(entries) < 9; at += step {
		var output strings.Builder
		output.WriteString("     name          amount  state\n")
		for k := at; k < min(at+step, rows); k++ {
			fmt.Fprintf(&output, "%-4d %-12s %7d.%02d  %s\n", k, p.word(), p.between(1, 999), p.IntN(100), state)
		}
		said := thought{p.pick("Nothing odd in these.", "These look right.", "All of them are "+state+".", ""), p.pick("The next rows.", "Let me go on.", fmt.Sprintf("Now from row %d.", at), "Next part.")}
		if at == 0 {
			said = thought{next: "The tool cuts long output, so I'll read the table in parts."}
		}
		entries = append(entries, cell(fmt.Sprintf("print(df.iloc[%d:%d].to_string())", at, at+step), output.String()).after(said))
	}
	return entries, 0
}

// featuresAblated trains a model without feature after feature; the scores are nearly equal, and that is the finding.
func featuresAblated(p *generator) (entries []entry, _ int) {
	run, base := p.commands(), p.between(8010, 9200)
	features := p.distinct(p.between(5, 8))
	command := "python train.py --seed 7"
	entries = append(entries, run(command, p.training(base), 0).after(thought{next: "First the model with all features."}))
	for k, feature := range features {
		score := base - p.IntN(14)
		if p.IntN(5) == 0 {
			score -= p.between(80, 400)
		}
		said := thought{p.pick("Hardly a difference.", "About the same.", "The score stays within the noise.", "So that one matters little."), p.pick("Next, without `", "Now drop `", "Then `") + feature + "`."}
		if k == 0 {
			said = thought{fmt.Sprintf("The baseline is 0.%d.", base), "Now I leave out one feature at a time, starting with `" + feature + "`."}
		}
		entries = append(entries, run(command+" --drop "+feature, p.training(score), 0).after(said))
	}
	return entries, 0
}

// training returns what a training of five epochs prints.
func (p *generator) training(score int) string {
	var log strings.Builder
	loss := p.between(5000, 6900)
	for epoch := range 5 {
		fmt.Fprintf(&log, "epoch %d/5  loss 0.%04d  val_loss 0.%04d\n", epoch+1, loss, loss+p.between(40, 300))
		loss = loss * p.between(82, 93) / 100
	}
	fmt.Fprintf(&log, "val AUC 0.%04d", score)
	return log.String()
}
