//! What the servers of every protocol send, byte for byte.

use reasoning::Scheme;

/// A protocol and what its servers send.
pub struct Wire {
    /// As its addresses begin.
    pub api: &'static str,
    /// Base path of the test's addresses, and what the protocol adds.
    pub base: &'static str,
    pub path: &'static str,
    /// A stream that thinks `hm, well`, says `I look.` and calls `read` of `a b`; 100 tokens in, 60 of them cached, 20 out.
    pub whole: &'static str,
    /// The same as one object, of a server that does not stream.
    pub at_once: &'static str,
    /// Streams that a limit has cut, that a model refuses in, that a filter has stopped.
    pub cut: &'static str,
    pub refused: Option<&'static str>,
    pub filtered: Option<&'static str>,
    /// A stream that reports an error.
    pub broken: &'static str,
    /// One piece of a text: `TEXT` stands in it.
    pub piece: &'static str,
    /// A refusal of the temperature, with status 400.
    pub no_temperature: &'static str,
    /// What a key is sent in.
    pub scheme: Scheme,
}

pub const CHAT: Wire = Wire {
    api: "openai",
    base: "/v1",
    path: "/v1/chat/completions",
    whole: r#"data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":null},"finish_reason":null}]}

data: {"id":"c1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"reasoning_content":"hm, "},"finish_reason":null}]}

data: {"id":"c1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"reasoning_content":"well"},"finish_reason":null}]}

data: {"id":"c1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"I "},"finish_reason":null}]}

data: {"id":"c1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"look."},"finish_reason":null}]}

data: {"id":"c1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"read","arguments":""}}]},"finish_reason":null}]}

data: {"id":"c1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"path\":"}}]},"finish_reason":null}]}

data: {"id":"c1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"a b\"}"}}]},"finish_reason":null}]}

data: {"id":"c1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}

data: {"id":"c1","object":"chat.completion.chunk","choices":[],"usage":{"prompt_tokens":100,"completion_tokens":20,"total_tokens":120,"prompt_tokens_details":{"cached_tokens":60,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":4}}}

data: [DONE]

"#,
    at_once: r#"{"id":"c1","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","reasoning_content":"hm, well","content":"I look.","tool_calls":[{"id":"call_1","type":"function","function":{"name":"read","arguments":"{\"path\":\"a b\"}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":100,"completion_tokens":20,"prompt_tokens_details":{"cached_tokens":60}}}"#,
    cut: "data: {\"choices\":[{\"delta\":{\"content\":\"I lo\"}}]}\n\ndata: {\"choices\":[{\"delta\":{},\"finish_reason\":\"length\"}]}\n\n",
    refused: Some(
        "data: {\"choices\":[{\"delta\":{\"refusal\":\"I won't.\"}}]}\n\ndata: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n",
    ),
    filtered: Some("data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"content_filter\"}]}\n\n"),
    broken: "data: {\"error\":{\"message\":\"overloaded: try later\",\"type\":\"server_error\"}}\n\n",
    piece: "data: {\"choices\":[{\"delta\":{\"content\":\"TEXT\"}}]}\n\n",
    no_temperature: r#"{"error":{"message":"Unsupported value: 'temperature' does not support 0 with this model.","type":"invalid_request_error","param":"temperature","code":"unsupported_value"}}"#,
    scheme: Scheme::Bearer,
};

const RESPONSES: Wire = Wire {
    api: "responses",
    base: "/v1",
    path: "/v1/responses",
    whole: r#"event: response.created
data: {"type":"response.created","sequence_number":0,"response":{"id":"resp_1","object":"response","status":"in_progress","output":[],"usage":null}}

event: response.in_progress
data: {"type":"response.in_progress","sequence_number":1,"response":{"id":"resp_1","object":"response","status":"in_progress","output":[]}}

event: response.output_item.added
data: {"type":"response.output_item.added","sequence_number":2,"output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[]}}

event: response.reasoning_summary_text.delta
data: {"type":"response.reasoning_summary_text.delta","sequence_number":3,"item_id":"rs_1","output_index":0,"summary_index":0,"delta":"hm, well"}

event: response.output_item.done
data: {"type":"response.output_item.done","sequence_number":4,"output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"hm, well"}]}}

event: response.output_item.added
data: {"type":"response.output_item.added","sequence_number":5,"output_index":1,"item":{"id":"msg_1","type":"message","status":"in_progress","role":"assistant","content":[]}}

event: response.output_text.delta
data: {"type":"response.output_text.delta","sequence_number":6,"item_id":"msg_1","output_index":1,"content_index":0,"delta":"I "}

event: response.output_text.delta
data: {"type":"response.output_text.delta","sequence_number":7,"item_id":"msg_1","output_index":1,"content_index":0,"delta":"look."}

event: response.output_text.done
data: {"type":"response.output_text.done","sequence_number":8,"item_id":"msg_1","output_index":1,"content_index":0,"text":"I look."}

event: response.output_item.added
data: {"type":"response.output_item.added","sequence_number":9,"output_index":2,"item":{"id":"fc_1","type":"function_call","status":"in_progress","arguments":"","call_id":"call_1","name":"read"}}

event: response.function_call_arguments.delta
data: {"type":"response.function_call_arguments.delta","sequence_number":10,"item_id":"fc_1","output_index":2,"delta":"{\"path\":"}

event: response.function_call_arguments.delta
data: {"type":"response.function_call_arguments.delta","sequence_number":11,"item_id":"fc_1","output_index":2,"delta":"\"a b\"}"}

event: response.output_item.done
data: {"type":"response.output_item.done","sequence_number":12,"output_index":2,"item":{"id":"fc_1","type":"function_call","status":"completed","arguments":"{\"path\":\"a b\"}","call_id":"call_1","name":"read"}}

event: response.completed
data: {"type":"response.completed","sequence_number":13,"response":{"id":"resp_1","object":"response","status":"completed","output":[{"id":"msg_1","type":"message","content":[{"type":"output_text","text":"I look."}]}],"usage":{"input_tokens":100,"input_tokens_details":{"cached_tokens":60},"output_tokens":20,"output_tokens_details":{"reasoning_tokens":4},"total_tokens":120}}}

"#,
    at_once: r#"{"id":"resp_1","object":"response","status":"completed","error":null,"incomplete_details":null,"output":[{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"hm, well"}]},{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"output_text","text":"I look.","annotations":[]}]},{"id":"fc_1","type":"function_call","call_id":"call_1","name":"read","arguments":"{\"path\":\"a b\"}"}],"usage":{"input_tokens":100,"input_tokens_details":{"cached_tokens":60},"output_tokens":20}}"#,
    cut: "data: {\"type\":\"response.output_text.delta\",\"delta\":\"I lo\"}\n\ndata: {\"type\":\"response.incomplete\",\"response\":{\"object\":\"response\",\"status\":\"incomplete\",\"incomplete_details\":{\"reason\":\"max_output_tokens\"},\"output\":[]}}\n\n",
    refused: Some(
        "data: {\"type\":\"response.refusal.delta\",\"delta\":\"I won't.\"}\n\ndata: {\"type\":\"response.completed\",\"response\":{\"object\":\"response\",\"status\":\"completed\",\"output\":[]}}\n\n",
    ),
    filtered: Some(
        "data: {\"type\":\"response.incomplete\",\"response\":{\"object\":\"response\",\"status\":\"incomplete\",\"incomplete_details\":{\"reason\":\"content_filter\"},\"output\":[]}}\n\n",
    ),
    broken: "data: {\"type\":\"response.failed\",\"response\":{\"object\":\"response\",\"status\":\"failed\",\"error\":{\"code\":\"server_error\",\"message\":\"overloaded: try later\"}}}\n\n",
    piece: "data: {\"type\":\"response.output_text.delta\",\"delta\":\"TEXT\"}\n\n",
    no_temperature: r#"{"error":{"message":"Unsupported parameter: 'temperature' is not supported with this model.","type":"invalid_request_error","param":"temperature","code":null}}"#,
    scheme: Scheme::Bearer,
};

const ANTHROPIC: Wire = Wire {
    api: "anthropic",
    base: "/v1",
    path: "/v1/messages",
    whole: r#"event: message_start
data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":30,"cache_creation_input_tokens":10,"cache_read_input_tokens":60,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}

event: ping
data: {"type":"ping"}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm, well"}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2lnbmVk"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"I "}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"look."}}

event: content_block_stop
data: {"type":"content_block_stop","index":1}

event: content_block_start
data: {"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"toolu_1","name":"read","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"path\": "}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"\"a b\"}"}}

event: content_block_stop
data: {"type":"content_block_stop","index":2}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":20}}

event: message_stop
data: {"type":"message_stop"}

"#,
    at_once: r#"{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"thinking","thinking":"hm, well","signature":"c2lnbmVk"},{"type":"text","text":"I look."},{"type":"tool_use","id":"toolu_1","name":"read","input":{"path":"a b"}}],"stop_reason":"tool_use","usage":{"input_tokens":30,"cache_creation_input_tokens":10,"cache_read_input_tokens":60,"output_tokens":20}}"#,
    cut: "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"I lo\"}}\n\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"max_tokens\"},\"usage\":{\"output_tokens\":2}}\n\ndata: {\"type\":\"message_stop\"}\n\n",
    refused: Some(
        "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"I won't.\"}}\n\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"refusal\"},\"usage\":{\"output_tokens\":2}}\n\ndata: {\"type\":\"message_stop\"}\n\n",
    ),
    filtered: None,
    broken: "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"overloaded: try later\"}}\n\n",
    piece: "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"TEXT\"}}\n\n",
    no_temperature: r#"{"type":"error","error":{"type":"invalid_request_error","message":"temperature: not supported by this model"}}"#,
    scheme: Scheme::Header("x-api-key"),
};

pub const GEMINI: Wire = Wire {
    api: "gemini",
    base: "/v1beta",
    path: "/v1beta/models/m:streamGenerateContent?alt=sse",
    whole: "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"hm, well\",\"thought\":true}],\"role\":\"model\"},\"index\":0}],\"usageMetadata\":{\"promptTokenCount\":100,\"totalTokenCount\":104,\"thoughtsTokenCount\":4},\"modelVersion\":\"m\",\"responseId\":\"r1\"}\r\n\r\ndata: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"I look.\"}],\"role\":\"model\"},\"index\":0}],\"usageMetadata\":{\"promptTokenCount\":100,\"candidatesTokenCount\":3,\"totalTokenCount\":107,\"thoughtsTokenCount\":4}}\r\n\r\ndata: {\"candidates\":[{\"content\":{\"parts\":[{\"functionCall\":{\"name\":\"read\",\"args\":{\"path\":\"a b\"}},\"thoughtSignature\":\"c2lnbmVk\"}],\"role\":\"model\"},\"finishReason\":\"STOP\",\"index\":0}],\"usageMetadata\":{\"promptTokenCount\":100,\"candidatesTokenCount\":16,\"totalTokenCount\":120,\"cachedContentTokenCount\":60,\"thoughtsTokenCount\":4}}\r\n\r\n",
    at_once: r#"{"candidates":[{"content":{"parts":[{"text":"hm, well","thought":true},{"text":"I look."},{"functionCall":{"name":"read","args":{"path":"a b"}}}],"role":"model"},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":100,"candidatesTokenCount":16,"cachedContentTokenCount":60,"thoughtsTokenCount":4}}"#,
    cut: "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"I lo\"}],\"role\":\"model\"},\"finishReason\":\"MAX_TOKENS\"}]}\n\n",
    refused: None,
    filtered: Some(
        "data: {\"promptFeedback\":{\"blockReason\":\"PROHIBITED_CONTENT\"},\"usageMetadata\":{\"promptTokenCount\":100}}\n\n",
    ),
    broken: "data: {\"error\":{\"code\":503,\"message\":\"overloaded: try later\",\"status\":\"UNAVAILABLE\"}}\n\n",
    piece: "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"TEXT\"}],\"role\":\"model\"}}]}\n\n",
    no_temperature: r#"{"error":{"code":400,"message":"Invalid value at 'generation_config.temperature'","status":"INVALID_ARGUMENT"}}"#,
    scheme: Scheme::Header("x-goog-api-key"),
};

const OLLAMA: Wire = Wire {
    api: "ollama",
    base: "",
    path: "/api/chat",
    whole: r#"{"model":"m","created_at":"2026-11-24T10:00:00Z","message":{"role":"assistant","content":"","thinking":"hm, "},"done":false}
{"model":"m","created_at":"2026-11-24T10:00:00Z","message":{"role":"assistant","content":"","thinking":"well"},"done":false}
{"model":"m","created_at":"2026-11-24T10:00:00Z","message":{"role":"assistant","content":"I "},"done":false}
{"model":"m","created_at":"2026-11-24T10:00:00Z","message":{"role":"assistant","content":"look."},"done":false}
{"model":"m","created_at":"2026-11-24T10:00:00Z","message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"read","arguments":{"path":"a b"}}}]},"done":false}
{"model":"m","created_at":"2026-11-24T10:00:01Z","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","total_duration":9,"load_duration":1,"prompt_eval_count":100,"prompt_eval_duration":4,"eval_count":20,"eval_duration":4}
"#,
    at_once: r#"{"model":"m","message":{"role":"assistant","content":"I look.","thinking":"hm, well","tool_calls":[{"function":{"name":"read","arguments":{"path":"a b"}}}]},"done":true,"done_reason":"stop","prompt_eval_count":100,"eval_count":20}"#,
    cut: "{\"message\":{\"role\":\"assistant\",\"content\":\"I lo\"},\"done\":false}\n{\"message\":{\"role\":\"assistant\",\"content\":\"\"},\"done\":true,\"done_reason\":\"length\"}\n",
    refused: None,
    filtered: None,
    broken: "{\"error\":\"overloaded: try later\"}\n",
    piece: "{\"message\":{\"role\":\"assistant\",\"content\":\"TEXT\"},\"done\":false}\n",
    no_temperature: r#"{"error":"invalid option provided: temperature"}"#,
    scheme: Scheme::Bearer,
};

pub const ALL: [Wire; 5] = [CHAT, RESPONSES, ANTHROPIC, GEMINI, OLLAMA];
