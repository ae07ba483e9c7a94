package secondopinion

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/sashabaranov/go-openai"

	"github.com/unloop-ai/unloop/internal/mask"
	"github.com/unloop-ai/unloop/policy"
)

// The reasons why a question has no answer. Errors of Review wrap one of them.
var (
	ErrBudget  = errors.New("the budget for second opinions is spent")
	ErrTimeout = errors.New("no answer in time")
	ErrModel   = errors.New("the endpoint did not answer")
	ErrAnswer  = errors.New("the answer does not have the required format")
)

// Stats are counts of a Client.
type Stats struct {
	Stuck, NotStuck                            int64 // opinions, by their answer
	OverBudget, Timeouts, Failures, BadAnswers int64 // questions without an opinion, by their reason
	PromptTokens, CompletionTokens             int64 // as the endpoint reports them
}

// Client asks a model for second opinions. It is safe for concurrent use.
type Client struct {
	settings Settings
	chat     *openai.Client // not OpenAI's own client, which would take a third of a cold build
	masker   *mask.Masker
	log      *slog.Logger
	logged   sync.Map // reasons that were logged

	mu      sync.Mutex
	askedAt []time.Time // in the last hour, oldest first; at most PerHour

	stuck, notStuck, overBudget, timeouts, failures, badAnswers, prompt, completion atomic.Int64
}

// New returns a client. The error joins all settings out of range. The first failure for each reason is logged; a nil log means
// nowhere. The environment is not read.
func New(s Settings, log *slog.Logger) (*Client, error) {
	s.fill()
	if err := s.validate(); err != nil {
		return nil, fmt.Errorf("second opinion: %w", err)
	}
	key := make([]byte, 32)
	rand.Read(key) // never fails
	masker, err := mask.New(mask.Settings{Disabled: s.Unmasked, Patterns: s.Patterns, Key: key})
	if err != nil {
		return nil, fmt.Errorf("second opinion: %w", err)
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	options := openai.DefaultConfig(s.Key)
	options.BaseURL, options.HTTPClient = s.Endpoint, newEndpoint()
	return &Client{settings: s, chat: openai.NewClientWithConfig(options), masker: masker, log: log}, nil
}

// Mask hides secrets in a text.
func (c *Client) Mask(text string) string { return c.masker.Text(text) }

// Stats returns the counts so far.
func (c *Client) Stats() Stats {
	return Stats{
		Stuck: c.stuck.Load(), NotStuck: c.notStuck.Load(), OverBudget: c.overBudget.Load(), Timeouts: c.timeouts.Load(),
		Failures: c.failures.Load(), BadAnswers: c.badAnswers.Load(), PromptTokens: c.prompt.Load(), CompletionTokens: c.completion.Load(),
	}
}

// Review asks the model. It sends one request and no retries. The error wraps ErrBudget, ErrTimeout, ErrModel or ErrAnswer.
func (c *Client) Review(ctx context.Context, q policy.Question) (policy.Opinion, error) {
	o, err := c.review(ctx, q)
	switch {
	case err == nil && o.Stuck:
		c.stuck.Add(1)
	case err == nil:
		c.notStuck.Add(1)
	case errors.Is(err, ErrBudget):
		c.failed(&c.overBudget, ErrBudget, err)
	case errors.Is(err, ErrTimeout):
		c.failed(&c.timeouts, ErrTimeout, err)
	case errors.Is(err, ErrAnswer):
		c.failed(&c.badAnswers, ErrAnswer, err)
	default:
		c.failed(&c.failures, ErrModel, err)
	}
	return o, err
}

// failed counts a failure, and logs the first for each reason. Errors of the endpoint may quote the request, so only their kind is
// logged.
func (c *Client) failed(count *atomic.Int64, reason, err error) {
	count.Add(1)
	if _, known := c.logged.LoadOrStore(reason, true); known {
		return
	}
	attributes := []any{"reason", reason, "endpoint", c.settings.Endpoint, "model", c.settings.Model}
	if status := statusOf(err); status != 0 {
		attributes = append(attributes, "status", status)
	}
	c.log.Warn("a second opinion is missing; decisions are made without it", attributes...)
}

// statusOf returns the HTTP status of an answer that is an error, or 0 if there was no answer.
func statusOf(err error) int {
	if refused, ok := errors.AsType[*openai.APIError](err); ok {
		return refused.HTTPStatusCode
	}
	if refused, ok := errors.AsType[*openai.RequestError](err); ok {
		return refused.HTTPStatusCode
	}
	return 0
}

func (c *Client) review(ctx context.Context, q policy.Question) (policy.Opinion, error) {
	if q.Number > c.settings.PerRun || !c.spend(time.Now()) {
		return policy.Opinion{}, ErrBudget
	}
	ctx, cancel := context.WithTimeout(ctx, c.settings.Timeout)
	defer cancel()
	completion, err := c.chat.CreateChatCompletion(ctx, openai.ChatCompletionRequest{
		Model: c.settings.Model,
		Messages: []openai.ChatCompletionMessage{
			{Role: openai.ChatMessageRoleSystem, Content: instructions}, {Role: openai.ChatMessageRoleUser, Content: c.render(&q)},
		},
		MaxCompletionTokens: c.settings.MaxTokens,
		ResponseFormat: &openai.ChatCompletionResponseFormat{
			Type:       openai.ChatCompletionResponseFormatTypeJSONSchema,
			JSONSchema: &openai.ChatCompletionResponseFormatJSONSchema{Name: "second_opinion", Strict: true, Schema: schema},
		},
	})
	if err != nil {
		if ctx.Err() != nil {
			return policy.Opinion{}, fmt.Errorf("%w: %w", ErrTimeout, ctx.Err())
		}
		return policy.Opinion{}, fmt.Errorf("%w: %w", ErrModel, err)
	}
	c.prompt.Add(int64(completion.Usage.PromptTokens))
	c.completion.Add(int64(completion.Usage.CompletionTokens))
	if len(completion.Choices) == 0 {
		return policy.Opinion{}, fmt.Errorf("%w: it has no choices", ErrAnswer)
	}
	return read(completion.Choices[0].Message.Content)
}

// spend takes one question from the budget of an hour. It returns false if none is left.
func (c *Client) spend(now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.askedAt) > 0 && now.Sub(c.askedAt[0]) >= time.Hour {
		c.askedAt = c.askedAt[1:]
	}
	if len(c.askedAt) >= c.settings.PerHour {
		return false
	}
	c.askedAt = append(c.askedAt, now)
	return true
}

// read returns the opinion in an answer.
func read(content string) (policy.Opinion, error) {
	var answer struct {
		Stuck     *bool    `json:"stuck"`
		Certainty *float64 `json:"certainty"`
		Why       string   `json:"why"`
		Advice    string   `json:"advice"`
	}
	if err := json.Unmarshal([]byte(content), &answer); err != nil {
		return policy.Opinion{}, fmt.Errorf("%w: %w", ErrAnswer, err)
	}
	if answer.Stuck == nil || answer.Certainty == nil {
		return policy.Opinion{}, fmt.Errorf("%w: stuck or certainty is missing", ErrAnswer)
	}
	o := policy.Opinion{Stuck: *answer.Stuck, Certainty: *answer.Certainty, Why: bounded(answer.Why), Advice: bounded(answer.Advice)}
	if err := o.Validate(); err != nil {
		return policy.Opinion{}, fmt.Errorf("%w: %w", ErrAnswer, err)
	}
	return o, nil
}

// bounded returns one line of printable text that fits into an opinion.
func bounded(text string) string {
	text = strings.Map(func(c rune) rune {
		if unicode.IsSpace(c) {
			return ' '
		}
		if !unicode.IsPrint(c) {
			return -1
		}
		return c
	}, text)
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= policy.MaxAdvice {
		return text
	}
	cut := policy.MaxAdvice - len("…")
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}
