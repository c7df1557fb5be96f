// Package serve is the API of the recommender, package recommend, over HTTP:
//
//	GET  /v1/users/{id}/predictions?movies=1,2,3   or ?top=10
//	GET  /v1/users/{id}/ratings
//	DELETE /v1/users/{id}
//	POST /v1/ratings                               {"user": 1, "movie": 50, "rating": 4}
//	POST /v1/items                                 {"movie": 5000, "title": "Tea pot"}
//	GET  /v1/model
//	GET  /metrics, /healthz, /openapi.json
//
// The live page, of package liveweb, is at /.
//
// Whatever comes in is checked: bodies are small, strict JSON; unknown fields,
// repeated fields and anything after the object are refused. Every answer but
// /metrics is JSON, errors included: {"error": {"code", "message", "try"}}.
package serve
