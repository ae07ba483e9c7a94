// Package eval measures profiles over labelled runs: which loops they catch and how soon, and which healthy work they flag or
// stop. It reads labelled runs, folds each run as a scan does, and compares the decisions with the labels. The profiles do not
// see the labels. docs/eval.md describes the labels and measures.
package eval
