package store

import "time"

// In a cluster, arrivals count time, so that those of several partitions can be compared. Modulo the number of partitions, an arrival is
// its partition. What has a higher arrival was recorded later, but for ArrivalWindow.
const (
	arrivalTick = 10 * time.Microsecond

	// ArrivalWindow is the time within which an event is visible after it got its arrival; otherwise it never is. It is longer than
	// the commit of a partition takes, including the wait for the commit of another partition.
	ArrivalWindow = 30 * time.Second
)

var arrivalEpoch = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// ArrivalAt returns the lowest arrival of a time in a cluster of so many partitions.
func ArrivalAt(at time.Time, partitions int64) int64 {
	return int64(at.Sub(arrivalEpoch)/arrivalTick) * partitions
}

// ArrivalsIn returns how many arrivals a cluster of so many partitions has in a time.
func ArrivalsIn(d time.Duration, partitions int64) int64 { return int64(d/arrivalTick) * partitions }

// Server is a server of a cluster.
type Server struct {
	Name    string // of one start of the server
	Address string // HOST:PORT of its HTTP, for people
	Works   bool   // it owns partitions
}

// Partition is a part of the runs of a cluster: those whose ids have the same hash. One server at a time folds and records it.
type Partition struct {
	ID       int
	Owner    string // name of a server; "" for none
	Epoch    int64  // counts its owners
	Sequence uint64 // of the last recorded message of its stream
	Lag      int64  // messages that are not recorded, as far as the owner knows
}
