package api

// Health says that the server works.
type Health struct {
	Status  string `json:"status" enum:"healthy" doc:"Always healthy in a 200 answer. Other answers are problem details with another status."`
	Service string `json:"service" enum:"unloop" doc:"Name of the service."`
	Version string `json:"version" doc:"Version of the server."`
	GRPC    string `json:"grpc" enum:"on,off,taken" doc:"Whether the server accepts OTLP over gRPC. taken: another program uses the default port, and no port is configured."`

	Refolding  int `json:"refolding_runs" doc:"Number of runs whose warnings and decisions do not include their late events yet."`
	Unreadable int `json:"unreadable_events" doc:"Number of stored events that the server could not read since its start. It skips them. The count ends at 10,000."`

	Cluster *Cluster `json:"cluster,omitempty" doc:"The servers of the cluster. Left out if the server is alone, or if the token may not read."`
}

// Cluster is what a server knows of its cluster.
type Cluster struct {
	Roles   []string        `json:"roles" enum:"ingest,work,api" doc:"What this server does: ingest takes events, work judges and records runs, api answers queries."`
	Servers []ClusterServer `json:"servers" doc:"The servers that are alive."`
	Unowned int             `json:"unowned_partitions" doc:"Number of partitions without an owner. More than 0 for longer than 5 seconds means that no server works."`
	Lag     int64           `json:"lag" doc:"Number of messages that this server has not recorded yet, of the partitions that it owns."`
}

// ClusterServer is a server of a cluster.
type ClusterServer struct {
	Address    string `json:"address" doc:"Where it serves HTTP."`
	Works      bool   `json:"works" doc:"Whether it owns partitions."`
	Partitions int    `json:"partitions" doc:"Number of partitions that it owns."`
}
