package policy

// Health is the health of a run. The score is in the range of the status: healthy from 80 to 100, repeated from 50 to 79, looping from
// 20 to 49, stuck from 0 to 19.
type Health struct {
	Score  int   `json:"score"`  // 0 (stuck) to 100 (healthy)
	Status Grade `json:"status"` // the grade of the run's Verdict; under a profile with a published table, that of the score
}
