package api

// Health says that the server works.
type Health struct {
	Status  string `json:"status" enum:"healthy" doc:"Always healthy in a 200 answer. Other answers are problem details with another status."`
	Service string `json:"service" enum:"unloop" doc:"Name of the service."`
	Version string `json:"version" doc:"Version of the server."`
	GRPC    string `json:"grpc" enum:"on,off,taken" doc:"Whether the server accepts OTLP over gRPC. taken: another program uses the default port, and no port is configured."`

	Refolding  int `json:"refolding_runs" doc:"Number of runs whose warnings and decisions do not include their late events yet."`
	Unreadable int `json:"unreadable_events" doc:"Number of stored events that the server could not read since its start. It skips them. The count ends at 10,000."`
}
