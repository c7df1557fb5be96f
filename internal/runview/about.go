package runview

// What runs are, for people who see one for the first time.
const (
	aboutOnline = "The nodes meet a stream, step by step: they answer, hear what the answer should have been, and learn. " +
		"The model as trained answers beside them, frozen."
	aboutForecasts = "Sensors say what they will read, hear it when it comes true, and learn. " +
		"The model as trained answers beside them, frozen."
	aboutTraining = "The model learns from samples with known answers, over and over: an epoch is once through all of them. " +
		"What it does on samples that it does not learn from, in validation, decides which parameters are kept."
	aboutBacktest = "At each origin a model was trained on all that came before, and then met what followed: " +
		"ways to forecast, side by side, judged by what came true."
)
