// Package gemini reads the chats that Gemini CLI records under ~/.gemini/tmp/<project>/chats: session-*.jsonl, one line of
// metadata and then one record per line, and the older session-*.json, one document with the records in "messages". The run is
// the session.
//
// An event's Index is the position of the record: in JSON Lines the number of the non-blank line, from 0, in a document the
// position in "messages".
//
// Special cases:
//
//   - A changed record is written again with its id, for example when a message gets its tool calls and its tokens. The last
//     version counts, at the position of the first.
//   - {"$rewindTo": id} removes the record with the id and all later ones. As in Gemini CLI, an unknown id removes all
//     records. Removed records are not part of the run. A rewind is possible at any time, so events are sent only at the end
//     of the input. The records are kept until then, without the output for the display, and an input larger than
//     ingest.MaxDocument is rejected.
//   - {"$set": {…}} changes the metadata. With "messages" it replaces the conversation by a compressed or masked one. It is
//     not read, because the compressed steps still happened.
//   - A record may contain several sequential calls, so each call is followed by its own result.
//   - The result of a call is a list of parts. functionResponse.response contains the output or the error.
//
// Records of other types (info, warning, error) are skipped.
package gemini

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/unloop-ai/unloop/internal/ingest"
)

// Format is the format of recorded chats.
func Format() ingest.Format {
	return ingest.Format{
		Name:   "gemini",
		Title:  "Gemini CLI chat (~/.gemini/tmp/…/chats/session-*.jsonl, *.json)",
		Sniff:  sniff,
		Decode: decode,
		Whole:  true,
	}
}

func sniff(head []byte) bool {
	m, list := ingest.Members(head)
	_, typed := m["type"]
	return !list && !typed && m["sessionId"] != "" && m["projectHash"] != ""
}

func decode(in *ingest.Input, emit ingest.Emit) error {
	head, err := in.Head()
	if err != nil {
		return err
	}
	var c *chat
	m, _ := ingest.Members(head)
	if _, document := m["messages"]; document {
		c, err = readDocument(in)
	} else {
		c, err = readLines(in)
	}
	if err != nil {
		return err
	}
	trail := ingest.NewEventBuilder(c.run, emit)
	for _, r := range c.records {
		if err := r.send(trail); err != nil {
			return err
		}
	}
	return nil
}

// chat is the current state of a conversation.
type chat struct {
	run     string
	records []*record      // in the order in which their ids first appeared
	at      map[string]int // index in records by id
}

// put adds the record, or replaces the one with its id.
func (c *chat) put(r *record) {
	if i, known := c.at[r.ID]; known && r.ID != "" {
		r.index = c.records[i].index
		c.records[i] = r
		return
	}
	c.at[r.ID] = len(c.records)
	c.records = append(c.records, r)
}

// rewind removes the record with the id and all later ones.
func (c *chat) rewind(id string) {
	from := c.at[id] // 0 for an unknown id
	for _, r := range c.records[from:] {
		delete(c.at, r.ID)
	}
	c.records = c.records[:from]
}

func readDocument(in *ingest.Input) (*chat, error) {
	var doc struct {
		Session  string   `json:"sessionId"`
		Messages []record `json:"messages"`
	}
	if err := in.UnmarshalDocument(&doc); err != nil {
		return nil, err
	}
	c := newChat(in)
	c.name(doc.Session)
	for i := range doc.Messages {
		r := &doc.Messages[i]
		r.index = i
		c.put(r)
	}
	return c, nil
}

func readLines(in *ingest.Input) (*chat, error) {
	c := newChat(in)
	index, size := -1, 0
	err := in.EachLine(func(line ingest.Line) error {
		index++
		if size += len(line.Bytes); size > ingest.MaxDocument {
			return in.Bad(line.Number, "", fmt.Sprintf("the chat is larger than %d MiB", ingest.MaxDocument>>20))
		}
		var l struct {
			record
			Session string         `json:"sessionId"`
			Rewind  jsontext.Value `json:"$rewindTo"`
		}
		if err := in.Unmarshal(line.Number, line.Bytes, &l); err != nil {
			return err
		}
		switch {
		case l.Rewind.Kind() == '"':
			c.rewind(ingest.UnquoteText(l.Rewind))
		case l.ID != "":
			l.record.index = index
			c.put(&l.record)
		case l.Session != "":
			c.name(l.Session)
		}
		return nil
	})
	return c, err
}

func newChat(in *ingest.Input) *chat {
	return &chat{run: in.Run, at: make(map[string]int)}
}

func (c *chat) name(session string) {
	if session != "" {
		c.run = session
	}
}
