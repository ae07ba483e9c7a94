// Package eval measures profiles over labelled runs: which loops they catch and how soon, and which honest work they
// disturb. It stands beside the report at the end of the arrow: it reads labelled runs, folds each as a scan would, and
// holds the decisions against the labels, which the profiles never see. docs/eval.md describes the labels and measures.
package eval
