package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/detect"
	"github.com/unloop-ai/unloop/internal/api"
)

// SARIF returns a writer that writes one SARIF 2.1.0 log at Close, for code scanning: a result for each warning, located in the
// file of the run. version is that of unloop. The encoded results are kept until Close.
func SARIF(w io.Writer, version string) Writer {
	return &sarifWriter{w: w, version: version, indexes: make(map[string]int), rules: []sarifRule{}}
}

type sarifWriter struct {
	w       io.Writer
	version string
	rules   []sarifRule // of the results, in order of appearance
	indexes map[string]int
	results bytes.Buffer // encoded and separated by commas
}

type sarifText struct {
	Text string `json:"text"`
}

type sarifRule struct {
	ID    string    `json:"id"`
	Short sarifText `json:"shortDescription"`
	Full  sarifText `json:"fullDescription"`
	Help  sarifText `json:"help"`
}

type sarifResult struct {
	RuleID       string            `json:"ruleId"`
	RuleIndex    int               `json:"ruleIndex"`
	Level        string            `json:"level"`
	Message      sarifText         `json:"message"`
	Locations    []sarifLocation   `json:"locations"`
	Fingerprints map[string]string `json:"partialFingerprints"`
	Properties   sarifProperties   `json:"properties"`
}

type sarifLocation struct {
	Physical struct {
		Artifact struct {
			URI string `json:"uri"`
		} `json:"artifactLocation"`
		Region *sarifRegion `json:"region,omitempty"`
	} `json:"physicalLocation"`
}

type sarifRegion struct {
	StartLine int `json:"startLine"`
}

// sarifProperties are facts for which SARIF has no members.
type sarifProperties struct {
	RunID        string   `json:"runId"`
	Format       string   `json:"format"`
	HealthScore  int      `json:"healthScore"`
	HealthStatus string   `json:"healthStatus"`
	Subject      string   `json:"subject"`
	Count        *int     `json:"count"`
	EventID      string   `json:"eventId"`
	EventIndex   int      `json:"eventIndex"`
	Evidence     []string `json:"evidence"`
}

func (s *sarifWriter) Write(r *Run) error {
	var lines bytes.Buffer
	for _, w := range gravest(r.Warnings) {
		line, err := encode(s.result(r, w))
		if err != nil {
			return err
		}
		if s.results.Len()+lines.Len() > 0 {
			lines.WriteString(",\n")
		}
		lines.Write(bytes.TrimSuffix(line, []byte("\n")))
	}
	s.results.Write(lines.Bytes())
	return nil
}

func (s *sarifWriter) result(r *Run, w *Warning) sarifResult {
	f := &w.Finding
	warning := api.ScanWarningOf(f)
	result := sarifResult{
		RuleID: f.Rule, RuleIndex: s.rule(f.Rule), Level: level(f.Severity),
		Message:      sarifMessage(fmt.Sprintf("%s (run %s, event %s)", f.What, r.ID, label(f.Event))),
		Locations:    make([]sarifLocation, 1),
		Fingerprints: map[string]string{fingerprintKey: fingerprint(f.Rule, f.Subject, r.ID)},
		Properties: sarifProperties{
			RunID: r.ID, Format: r.Format, HealthScore: r.Health.Score, HealthStatus: string(r.Health.Status),
			Subject: f.Subject, Count: warning.Count, EventID: f.Event.ID, EventIndex: f.Event.Index, Evidence: warning.Evidence,
		},
	}
	result.Locations[0].Physical.Artifact.URI = uri(r.Source)
	if w.Line > 0 {
		result.Locations[0].Physical.Region = &sarifRegion{w.Line}
	}
	return result
}

// rule returns the index of a rule in the log. It adds a new rule with its documentation.
func (s *sarifWriter) rule(name string) int {
	if k, ok := s.indexes[name]; ok {
		return k
	}
	rule := sarifRule{name, sarifMessage(name), sarifMessage(name), sarifMessage(name)}
	if page, ok := detect.Explain(name); ok {
		first, _, _ := strings.Cut(page.When, ". ") // viewers show it as a title
		rule.Short, rule.Full = sarifMessage(strings.TrimSuffix(first, ".")+"."), sarifMessage(page.When)
		rule.Help = sarifMessage(page.Why + " " + page.Try)
	}
	s.indexes[name] = len(s.rules)
	s.rules = append(s.rules, rule)
	return s.indexes[name]
}

// Close writes the log.
func (s *sarifWriter) Close() error {
	driver := struct {
		Name    string      `json:"name"`
		Version string      `json:"version,omitempty"`
		Rules   []sarifRule `json:"rules"`
	}{"unloop", s.version, s.rules}
	encoded, err := encode(driver)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.w, `{"$schema":%q,"version":"2.1.0","runs":[{"tool":{"driver":%s},"results":[%s]}]}`+"\n",
		sarifSchema, bytes.TrimSpace(encoded), s.results.Bytes())
	return err
}

const sarifSchema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

// fingerprintKey is the only fingerprint by which GitHub recognises a result.
const fingerprintKey = "primaryLocationLineHash"

// fingerprint returns the same value for the same warning of the same run, whatever its count and its file.
func fingerprint(rule, subject, run string) string {
	sum := sha256.Sum256([]byte(rule + "\x00" + subject + "\x00" + run))
	return hex.EncodeToString(sum[:16])
}

func level(s unloop.Severity) string {
	switch s {
	case unloop.SeverityCritical:
		return "error"
	case unloop.SeverityInfo:
		return "note"
	}
	return "warning"
}

var (
	sarifBraces = strings.NewReplacer("{", "{{", "}", "}}")
	sarifLinks  = strings.NewReplacer(`\`, `\\`, "[", `\[`, "]", `\]`)
)

// sarifMessage returns a plain text message. It doubles braces, which mark placeholders (SARIF 3.11.5), and escapes brackets
// before a parenthesis, which mark links (3.11.6).
func sarifMessage(s string) sarifText {
	s = plain(s)
	if strings.Contains(s, "](") {
		s = sarifLinks.Replace(s)
	}
	return sarifText{sarifBraces.Replace(s)}
}

// uri returns the URI of the path of a file. A relative path stays relative to the root of the repository.
func uri(path string) string {
	slashed := filepath.ToSlash(path)
	if !filepath.IsAbs(path) {
		return (&url.URL{Path: slashed}).String()
	}
	return (&url.URL{Scheme: "file", Path: "/" + strings.TrimPrefix(slashed, "/")}).String()
}
