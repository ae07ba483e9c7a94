package api

import "github.com/unloop-ai/unloop/internal/store"

// NewOrder is what a person wants of the guard of a run.
type NewOrder struct {
	Act  string `json:"act" enum:"nudge,pause,resume,allow,halt" doc:"nudge: the agent gets the text. pause: calls wait. resume: they run again. allow: the agent may continue after a block or a halt. halt: the run ends. At hooks of coding agents and at the model proxy, a new message of a person ends a pause and a halt."`
	Text string `json:"text,omitempty" maxLength:"4000" doc:"For the agent: the words of a nudge, or the reason of a halt."`
	Tool string `json:"tool,omitempty" maxLength:"512" doc:"Of allow: calls of this tool are allowed for the rest of the run. Default: only the level of the loop is reset."`
	Why  string `json:"why,omitempty" maxLength:"1000" doc:"The reason, for other people."`
	By   string `json:"by,omitempty" maxLength:"200" doc:"Who acts. With tokens, the name of the token is put in front."`
}

// Order is an order that was given.
type Order struct {
	Number  int64  `json:"number" doc:"Number of the order in its run, from 1."`
	RunID   string `json:"run_id" doc:"The run's id."`
	EventID string `json:"event_id" doc:"Id of the event of the run that records the order."`
	Act     string `json:"act" enum:"nudge,pause,resume,allow,halt" doc:"What was ordered."`
	Text    string `json:"text,omitzero" required:"false" doc:"For the agent."`
	Tool    string `json:"tool,omitzero" required:"false" doc:"Of allow: the tool whose calls are allowed."`
	By      string `json:"by,omitzero" required:"false" doc:"Who gave the order."`
	Why     string `json:"why,omitzero" required:"false" doc:"The reason."`
	At      string `json:"at" format:"date-time" doc:"When the order was given."`
	Ends    int64  `json:"ends,omitzero" required:"false" doc:"Of a resume that a guard reports: number of the pause or the halt that a new message of a person ended."`
}

// ControlState says what people have ordered of a run, and whether its guard hears it.
type ControlState struct {
	Listening bool     `json:"listening" doc:"true: a guard of the run asks this server for orders now."`
	Waiting   int      `json:"waiting" doc:"Number of orders that the guard has not fetched. After a restart of the server, orders that were fetched before do not count."`
	Paused    bool     `json:"paused" doc:"true: calls wait until a resume."`
	Halted    bool     `json:"halted" doc:"true: a person halted the run."`
	Allowed   []string `json:"allowed_tools" doc:"Tools whose calls are allowed for the rest of the run."`
	Orders    []Order  `json:"orders" doc:"The latest 64 orders, oldest first."`
}

// Listen asks for the orders of runs.
type Listen struct {
	Runs []Listener `json:"runs" minItems:"1" maxItems:"1000" doc:"The runs whose guards ask."`
	Wait int        `json:"wait_ms,omitempty" minimum:"0" maximum:"25000" doc:"How long to wait for an order, in milliseconds."`
}

// Listener is the guard of a run that asks for orders.
type Listener struct {
	RunID string `json:"run_id" doc:"The run's id."`
	After int64  `json:"after" minimum:"-1" doc:"Number of the last order that the guard has. -1: it has none, and gets those that still hold: a pause, a halt, allowed tools."`
}

// Heard is the answer to guards that listen.
type Heard struct {
	Orders []Order    `json:"orders" doc:"New orders."`
	Runs   []Listener `json:"runs" doc:"For each run of the request: the number of its last order, for the next request."`
}

// OrderOf returns an order of the run with the id.
func OrderOf(run string, c *store.Control) Order {
	return Order{
		Number: c.Number, RunID: run, EventID: c.EventID, Act: c.Act, Text: c.Text, Tool: c.Tool, By: c.By, Why: c.Why, At: Timestamp(c.At), Ends: c.Ends,
	}
}

// ordersOf returns orders of the run with the id; never nil.
func ordersOf(run string, acts []store.Control) []Order {
	all := make([]Order, 0, len(acts))
	for k := range acts {
		all = append(all, OrderOf(run, &acts[k]))
	}
	return all
}

// ControlStateOf returns the state of a run's control. heard is the number of the last order that its guard fetched.
func ControlStateOf(r *store.Run, listening bool, heard int64) ControlState {
	state := ControlState{Listening: listening, Allowed: []string{}, Orders: ordersOf(r.ID, r.Controls)}
	for _, c := range r.Controls {
		if c.Number > heard && c.Ends == 0 {
			state.Waiting++
		}
	}
	for _, c := range store.Standing(r.Controls) {
		switch c.Act {
		case "pause":
			state.Paused = true
		case "halt":
			state.Halted = true
		case store.Allow:
			state.Allowed = append(state.Allowed, c.Tool)
		}
	}
	return state
}
