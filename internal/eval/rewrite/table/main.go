// Command table prints how the verdicts of the profile default on labelled runs change when the runs are rewritten in each form: the table of
// docs/progress-meter.md. With -form it prints the runs in that form instead, one per line, for unloop eval.
//
//	go run ./internal/eval/rewrite/table RUNS.jsonl…
//	go run ./internal/eval/rewrite/table -form prompts RUNS.jsonl… | unloop eval -
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/unloop-ai/unloop/internal/eval"
	"github.com/unloop-ai/unloop/internal/eval/rewrite"
	"github.com/unloop-ai/unloop/profile"
)

func main() {
	name := flag.String("form", "", "print the runs in this form")
	flag.Parse()
	out := bufio.NewWriter(os.Stdout)
	if err := write(out, *name, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "table:", err)
		os.Exit(1)
	}
}

func write(out *bufio.Writer, name string, paths []string) error {
	if name != "" {
		form, err := rewrite.Find(name)
		if err != nil {
			return err
		}
		to := json.NewEncoder(out)
		to.SetEscapeHTML(false)
		if err := rewritten(form, paths, func(run *eval.Run) error { return to.Encode(run) }); err != nil {
			return err
		}
		return out.Flush()
	}
	fmt.Fprint(out, "| the runs with | found | clean flagged | flagged elsewhere | clean stopped |\n|---|---|---|---|---|\n")
	for _, form := range rewrite.Forms() {
		if err := row(out, form, paths); err != nil {
			return err
		}
		if err := out.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// row measures the runs in one form.
func row(w io.Writer, form rewrite.Form, paths []string) error {
	p, err := profile.New(profile.Default)
	if err != nil {
		return err
	}
	board := eval.New([]*profile.Profile{p})
	if err := rewritten(form, paths, func(run *eval.Run) error { return board.Add(context.Background(), run) }); err != nil {
		return err
	}
	judged := &board.Sheets[0].Judged
	_, err = fmt.Fprintf(w, "| %s | %d of %d | %d of %d | %d of %d | %d |\n", form.Title, judged.Found.Count, judged.Found.Of,
		judged.FalseFlags.Count, judged.FalseFlags.Of, judged.Elsewhere.Count, judged.Elsewhere.Of, judged.FalseStops.Count)
	return err
}

// rewritten calls take with each run of the files in a form.
func rewritten(form rewrite.Form, paths []string, take func(*eval.Run) error) error {
	for _, path := range paths {
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		err = eval.Each(context.Background(), path, file, func(run *eval.Run) error {
			made, err := form.Rewrite(run)
			if err != nil {
				return err
			}
			return take(made)
		})
		_ = file.Close() // a file that is only read has no error to report
		if err != nil {
			return err
		}
	}
	return nil
}
