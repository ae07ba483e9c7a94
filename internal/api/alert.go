package api

// NewAlert is a webhook as a person sets it up. Members that are left out have their defaults when an alert is added, and stay as they are
// when one is changed.
type NewAlert struct {
	URL      *string   `json:"url,omitempty" required:"false" maxLength:"2048" doc:"Endpoint for messages, which are sent by POST. Required to add an alert. It is never returned."`
	Secret   *string   `json:"secret,omitempty" required:"false" maxLength:"1024" doc:"Key of the messages' signatures; empty for no signature. It is never returned."`
	Format   *string   `json:"format,omitempty" required:"false" enum:"json,slack" doc:"Format of messages. Default: json."`
	Severity *string   `json:"severity,omitempty" required:"false" enum:"info,warning,critical" doc:"Minimum severity of warnings. Default: info."`
	Level    *string   `json:"level,omitempty" required:"false" enum:"raised,block,halt" doc:"Minimum level: a warning was raised, a call was or would be blocked, the run was or would be halted. Default: raised."`
	Projects *[]string `json:"projects,omitempty" required:"false" maxItems:"100" doc:"Projects whose runs are alerted; empty for all. Default: all."`
	Quiet    *Quiet    `json:"quiet_hours,omitempty" required:"false" doc:"Hours in which nothing is sent. Three empty members: none. Default: none."`
}

// Quiet are quiet hours.
type Quiet struct {
	From  string `json:"from" pattern:"^(([01][0-9]|2[0-3]):[0-5][0-9])?$" doc:"Time of day, HH:MM."`
	Until string `json:"until" pattern:"^(([01][0-9]|2[0-3]):[0-5][0-9])?$" doc:"Time of day, HH:MM; of the next day if it is before from."`
	Zone  string `json:"time_zone" maxLength:"64" doc:"Name in the IANA time zone database, such as Europe/Berlin or UTC."`
}

// Alert is a webhook, without its secrets.
type Alert struct {
	ID       string   `json:"id" doc:"The alert's id. file-N: number N of the configuration file, which the API does not change."`
	InFile   bool     `json:"in_file" doc:"true: it is in the configuration file. Its messages are sent for each warning and level, not for each run and level."`
	Endpoint string   `json:"endpoint" doc:"Scheme and host of the URL. The rest may be a secret."`
	Signed   bool     `json:"signed" doc:"true: messages are signed."`
	Format   string   `json:"format" enum:"json,slack" doc:"Format of messages."`
	Severity string   `json:"severity" enum:"info,warning,critical" doc:"Minimum severity of warnings."`
	Level    string   `json:"level" enum:"raised,block,halt" doc:"Minimum level."`
	Rules    []string `json:"rules" doc:"Rules whose warnings are alerted; empty for all. Only in the configuration file."`
	Projects []string `json:"projects" doc:"Projects whose runs are alerted; empty for all."`
	Quiet    *Quiet   `json:"quiet_hours" doc:"Hours in which nothing is sent; null for none."`
	Sent     int64    `json:"sent" doc:"Messages that the endpoint accepted since the server started or the alert was changed."`
	Failed   int64    `json:"failed" doc:"Messages that it did not accept."`
	Waiting  int      `json:"waiting" doc:"Warnings that wait to be sent."`
}

// AlertTest is the result of a test message.
type AlertTest struct {
	Delivered    bool    `json:"delivered" doc:"true: the endpoint accepted the message."`
	Reason       string  `json:"reason" doc:"Why it was not delivered; else empty."`
	Milliseconds float64 `json:"milliseconds" doc:"Duration of the attempt."`
}
