// Package onlinetest checks that a learner keeps the contract of
// [online.Learner]. A learner of one's own is tested like those of package
// online:
//
//	func TestLearner(t *testing.T) {
//		onlinetest.Check(t, func() online.Learner { return newLearner() }, stream)
//	}
package onlinetest
