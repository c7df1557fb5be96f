package dataset

// Problem is a failure with a line that says what to do.
type Problem struct {
	Err error
	Try string
}

func (p *Problem) Error() string { return p.Err.Error() }
func (p *Problem) Unwrap() error { return p.Err }
