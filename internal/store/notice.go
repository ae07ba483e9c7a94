package store

import "time"

// Notice is a level of a warning that an endpoint is to be notified of, or that needs no message.
type Notice struct {
	Endpoint string
	Run      int64 // number of the run
	Warning  string
	Level    string
	Holder   string // name of the server that sends it; "" outside a cluster
	At       time.Time
	State    []byte // of package sink; nil if the level needs no message
}

// DueWarning is a warning with due notices for an endpoint.
type DueWarning struct {
	Endpoint string
	Run      int64
	RunID    string // "" if the run does not exist
	Warning  string
}
