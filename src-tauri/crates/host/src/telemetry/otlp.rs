//! Spans and counts as OTLP has them in JSON (OpenTelemetry Protocol 1.x: `ExportTraceServiceRequest`, `ExportMetricsServiceRequest`).
//! Pure.

use super::Totals;
use super::spans::{Span, Value};
use serde_json::{Value as Json, json};

/// Who measured.
const SCOPE: &str = "hermit";
/// `SPAN_KIND_INTERNAL`.
const INTERNAL: u32 = 1;
/// `STATUS_CODE_ERROR`.
const FAILED: u32 = 2;
/// `AGGREGATION_TEMPORALITY_CUMULATIVE`.
const CUMULATIVE: u32 = 2;

/// The host that is measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Resource {
    /// Digits that only this store has.
    pub(super) instance: String,
    /// Since when its counts count, in milliseconds since 1970.
    pub(super) since: i64,
}

/// Milliseconds as the protocol has times: nanoseconds, in digits.
fn nanos(ms: i64) -> String {
    u64::try_from(ms).unwrap_or_default().saturating_mul(1_000_000).to_string()
}

fn attribute(key: &str, value: &Value) -> Json {
    let value = match value {
        Value::Name(name) => json!({ "stringValue": name }),
        Value::Id(id) => json!({ "stringValue": id.as_str() }),
        Value::Number(number) => json!({ "intValue": number.to_string() }),
        Value::Flag(flag) => json!({ "boolValue": flag }),
    };
    json!({ "key": key, "value": value })
}

fn resource(resource: &Resource) -> Json {
    json!({ "attributes": [
        attribute("service.name", &Value::Name("hermit")),
        attribute("service.version", &Value::Name(env!("CARGO_PKG_VERSION"))),
        { "key": "service.instance.id", "value": { "stringValue": resource.instance } },
    ] })
}

fn span(trace: &str, span: &Span) -> Json {
    let attributes: Vec<Json> = span.attributes.iter().map(|(key, value)| attribute(key, value)).collect();
    let status = if span.is_failed { json!({ "code": FAILED }) } else { json!({}) };
    let mut json = json!({
        "traceId": trace,
        "spanId": span.id,
        "name": span.name,
        "kind": INTERNAL,
        "startTimeUnixNano": nanos(span.start),
        "endTimeUnixNano": nanos(span.end),
        "attributes": attributes,
        "status": status,
    });
    if let (Some(parent), Some(members)) = (&span.parent, json.as_object_mut()) {
        members.insert("parentSpanId".to_owned(), Json::from(parent.as_str()));
    }
    json
}

/// A batch of spans of one trace.
pub(super) fn traces(of: &Resource, trace: &str, spans: &[Span]) -> Json {
    let spans: Vec<Json> = spans.iter().map(|one| span(trace, one)).collect();
    json!({ "resourceSpans": [{
        "resource": resource(of),
        "scopeSpans": [{ "scope": { "name": SCOPE }, "spans": spans }],
    }] })
}

/// The counts of a host.
pub(super) fn metrics(of: &Resource, totals: &Totals, now: i64) -> Json {
    let point = |attributes: Vec<Json>, number: u64| {
        json!({
            "attributes": attributes,
            "startTimeUnixNano": nanos(of.since),
            "timeUnixNano": nanos(now),
            "asInt": number.to_string(),
        })
    };
    let sum = |name: &str, points: Vec<Json>| {
        json!({ "name": name, "unit": "1", "sum": {
            "aggregationTemporality": CUMULATIVE, "isMonotonic": true, "dataPoints": points,
        } })
    };
    let gauge = |name: &str, unit: &str, number: u64| {
        let points = [point(Vec::new(), number)];
        json!({ "name": name, "unit": unit, "gauge": { "dataPoints": points } })
    };
    let named = |key: &str, name: &'static str| attribute(key, &Value::Name(name));
    let tasks = totals.tasks.iter();
    let tasks = tasks.map(|(status, n)| point(vec![named("hermit.task.status", status.as_str())], *n));
    let actions = totals.actions.iter().map(|((class, result), n)| {
        let class = named("hermit.action.class", class.as_str());
        point(vec![class, named("hermit.action.result", result.as_str())], *n)
    });
    let tokens = [("read", totals.tokens.0), ("written", totals.tokens.1)];
    let tokens = tokens.map(|(way, n)| point(vec![named("hermit.model.direction", way)], n));
    let uptime = u64::try_from(now.saturating_sub(of.since)).unwrap_or_default() / 1_000;
    let metrics = json!([
        sum("hermit.tasks.ended", tasks.collect()),
        sum("hermit.actions.ended", actions.collect()),
        sum("hermit.model.tokens", tokens.into()),
        sum("hermit.telemetry.failures", vec![point(Vec::new(), totals.failures)]),
        gauge("hermit.log.events", "1", totals.events),
        gauge("hermit.host.uptime", "s", uptime),
    ]);
    json!({ "resourceMetrics": [{
        "resource": resource(of),
        "scopeMetrics": [{ "scope": { "name": SCOPE }, "metrics": metrics }],
    }] })
}
