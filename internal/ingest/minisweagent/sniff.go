package minisweagent

import (
	"bytes"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// sniff matches an object that names the format, or whose info has members of mini-swe-agent and is followed by messages: in most
// files, the name of the format is at the end and not in head. An info that is cut off (a long submission) must name the version
// of the program.
func sniff(head []byte) bool {
	dec := jsontext.NewDecoder(bytes.NewReader(head),
		jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if !open(dec, '{') {
		return false
	}
	described := false
	for {
		key, err := dec.ReadToken()
		if err != nil || key.Kind() != '"' {
			return described && err != nil
		}
		switch key.String() {
		case "trajectory_format":
			value, err := dec.ReadToken()
			return err == nil && strings.HasPrefix(value.String(), "mini-swe-agent-1")
		case "messages":
			if described {
				return true
			}
		case "info":
			if dec.PeekKind() == '{' && open(dec, '{') {
				described = isInfo(dec)
				continue
			}
		}
		if dec.SkipValue() != nil {
			return false
		}
	}
}

func open(dec *jsontext.Decoder, kind jsontext.Kind) bool {
	tok, err := dec.ReadToken()
	return err == nil && tok.Kind() == kind
}

// isInfo reads the rest of an info and reports whether it counts the calls of the model's API.
func isInfo(dec *jsontext.Decoder) bool {
	stats, version := false, false
	for {
		key, err := dec.ReadToken()
		if err != nil || key.Kind() != '"' {
			return stats
		}
		stats = stats || key.String() == "model_stats"
		version = version || key.String() == "mini_version"
		if dec.SkipValue() != nil {
			return stats && version
		}
	}
}
